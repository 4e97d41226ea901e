/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect browse: a profile to walk through in a terminal. What is shown comes from view/browse/;
 * this file reads the profile, and refuses output that is not a terminal.
 */
#include "command/browse/browse.h"
#include "analysis/findings/findings.h"

static const struct pct_option options[] = {
    PCT_OPTION_COLOR,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

#ifdef HAVE_NCURSES
static int browse(const struct pct_command *self, const char *path)
{
    int status = PCT_DONE;
    pct_progress_show();
    struct pct_data *d = pct_profile_open(self, path, &status);
    if (!d)
        return status;
    d->findings = pct_findings_make(d, NULL);
    return pct_profile_close(self, d, pct_browse_show(self, d));
}
#else
bool pct_browse_key(size_t i, const char **name_out, const char **doc_out)
{
    (void)i;
    (void)name_out;
    (void)doc_out;
    return false;
}

static int browse(const struct pct_command *self, const char *path)
{
    struct pct_buf word = {0};
    pct_text_shell(&word, path);
    pct_say(self,
            "this pcollect was built without ncurses: install its headers (libncurses-dev, "
            "ncurses-devel) and build again; `pcollect report %s` shows the same as text",
            word.data);
    pct_buf_free(&word);
    return PCT_DATA;
}
#endif

static int run_browse(const struct pct_command *self, int argc, char **argv)
{
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, NULL, &line))
        return line.status;
    if (!pct_terminal_is_there())
        return pct_refuse(self,
                          "standard input and output must be a terminal; `pcollect report "
                          "%s` prints the same as text",
                          line.words[0]);
    return browse(self, line.words[0]);
}

const struct pct_command pct_browse_command = {
    .name = "browse",
    .synopsis = "[OPTION]... [PROFILE]",
    .summary = "walk through a profile in the terminal",
    .details =
        "Shows the tree of `pcollect report`, with rows that keys open and close: first from main "
        "to the calls; after Tab, from the functions that take the time themselves to their "
        "callers. Other keys show the ranks, the source or the instructions of the row that is "
        "marked, or search for a name. The key h lists all keys; q ends. Where less or perf report "
        "have a key for the same purpose, it is used here too.",
    .options = options,
    .argument = "PROFILE",
    .n_most = 1,
    .newest = true,
    .main = run_browse,
};
