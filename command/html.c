/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect html: a profile as one HTML page. html_compare.c has the pages of several profiles.
 */
#include "command/html.h"
#include "analysis/findings/findings.h"
#include "command/command.h"
#include "view/page.h"

#include <string.h>
#include <sys/stat.h>

enum { OPTION_STRONG = 256, OPTION_WEAK, OPTION_CONTEXTS, OPTION_NO_SOURCES };
enum { SCALING = 1 }; /* groups of options */
enum { CONTEXTS = 100000 };

static const struct pct_option options[] = {
    {'o', "output", "FILE",
     "write to FILE, - for standard output (default: PROFILE with .html in place of .pcol; with "
     "several profiles scaling.html or difference.html)",
     "A page of this command is replaced; any other file is left as it is, with an error. A pipe "
     "or a device, as /dev/stdout, may be there."},
    {OPTION_STRONG, "strong", NULL,
     "with several numbers of ranks or threads: the problem is the same in all runs (default: "
     "judged from the runs)",
     "Several profiles are compared on one page: with different numbers of ranks as by "
     "pcollect-scale(1), and so with different numbers of threads, if there are three profiles or "
     "one of these options; otherwise as by pcollect-diff(1), the first with the second, or those "
     "before -- with those after.",
     .group = SCALING},
    {OPTION_WEAK, "weak", NULL, "the problem grows with the number of ranks", .group = SCALING},
    {OPTION_CONTEXTS, "contexts", "N",
     "records of contexts that are kept apart (default: 100000; 0: all)",
     "A call has a record, and one for each communicator; a place of samples has one. If a profile "
     "has more, those that only one rank has and that take least time are added up by MPI function "
     "in the contexts around them, which keeps the page small. All sums stay exact, and the page "
     "says how many contexts these are."},
    {OPTION_NO_SOURCES, "no-sources", NULL, "leave the text of source files out of the page",
     "Without this option the page has the text of source files that the profile stores, and of "
     "those that can be read now, up to 4 MiB of these."},
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct pct_html_request *r = request;
    if (o->letter == OPTION_CONTEXTS)
        return pct_value_number(self, o, value, 0, UINT32_MAX, &r->contexts);
    if (o->letter == 'o')
        r->to = value;
    else if (o->letter == OPTION_NO_SOURCES)
        r->without_sources = true;
    else if (o->letter == OPTION_STRONG)
        r->strong = true;
    else
        r->weak = true;
    return PCT_DONE;
}

char *pct_html_name(const char *profile)
{
    static const char ending[] = ".pcol";
    size_t n = strlen(profile), m = sizeof ending - 1;
    bool cut = n > m && !strcmp(profile + n - m, ending);
    return pct_text("%.*s.html", (int)(cut ? n - m : n), profile);
}

/* False for standard output, a pipe and a device. */
static bool is_file(const char *to)
{
    struct stat st;
    return !pct_is_standard_output(to) && !lstat(to, &st) && S_ISREG(st.st_mode);
}

static void put_profile(FILE *out, const void *subject)
{
    pct_page_put(out, subject);
}

static int write_page(const struct pct_command *self, const char *path,
                      const struct pct_html_request *r)
{
    int status = PCT_DONE;
    struct pct_data *d = pct_profile_open(self, path, &status);
    if (!d)
        return status;
    if (r->contexts)
        d = pct_profile_add_up(d, (uint32_t)r->contexts);
    d->findings = pct_findings_make(d, NULL);
    const struct pct_page_of of = {d, r->without_sources};
    return pct_profile_close(self, d, pct_html_write(self, r->to, put_profile, &of));
}

int pct_html_file(const struct pct_command *self, const char *path, const char *to)
{
    return write_page(self, path, &(struct pct_html_request){.to = to, .contexts = CONTEXTS});
}

static int run_html(const struct pct_command *self, int argc, char **argv)
{
    struct pct_html_request r = {.contexts = CONTEXTS};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    char *name = r.to || line.n_words > 1 ? NULL : pct_html_name(line.words[0]);
    int status;
    if (line.n_words > 1 && r.contexts != CONTEXTS)
        status = pct_refuse(self, "--contexts: give one profile");
    else if (line.n_words > 1)
        status = pct_html_compare(self, &line, &r);
    else if (r.strong || r.weak)
        status = pct_refuse(self, "--strong, --weak: give profiles of several numbers of ranks");
    else {
        r.to = name ? name : r.to;
        status = write_page(self, line.words[0], &r);
    }
    if (!status && is_file(r.to))
        pct_say(self, "wrote %s: open it in a browser", r.to);
    pct_free(name);
    return status;
}

const struct pct_command pct_html = {
    .name = "html",
    .synopsis = "[OPTION]... [PROFILE], [OPTION]... PROFILE PROFILE..., or [OPTION]... BEFORE... "
                "-- AFTER...",
    .summary = "write a profile, or a comparison, as one HTML page for a browser",
    .options = options,
    .argument = "PROFILE",
    .n_most = PCT_ANY_NUMBER,
    .newest = true,
    .take = take_option,
    .main = run_html,
};
