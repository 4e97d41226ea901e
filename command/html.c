/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect html: a profile as one HTML page.
 */
#include "analysis/findings/findings.h"
#include "command/command.h"
#include "view/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct pct_option options[] = {
    {'o', "output", "FILE", "write to FILE (default: PROFILE with .html in place of .pcol)",
     "A page of this command is replaced; any other file is left as it is, with an error."},
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    const char *to;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    (void)self;
    r->to = o->letter == 'o' ? value : r->to;
    return PCT_DONE;
}

char *pct_html_name(const char *profile)
{
    static const char ending[] = ".pcol";
    size_t n = strlen(profile), m = sizeof ending - 1;
    bool cut = n > m && !strcmp(profile + n - m, ending);
    return pct_text("%.*s.html", (int)(cut ? n - m : n), profile);
}

/* True if nothing is lost when this file is replaced. */
static bool may_replace(const char *path)
{
    char begin[sizeof PCT_PAGE_BEGIN] = "";
    struct stat st;
    if (lstat(path, &st))
        return errno == ENOENT;
    FILE *f = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    if (!f)
        return false;
    size_t n = fread(begin, 1, sizeof begin - 1, f);
    fclose(f);
    return n == sizeof begin - 1 && !strcmp(begin, PCT_PAGE_BEGIN);
}

static int fail(const struct pct_command *self, const char *path)
{
    pct_say(self, "%s: %s", path, strerror(errno));
    return PCT_DATA;
}

/* Writes under another name first, so that a page under its own name is complete. */
static int write_page(const struct pct_command *self, const struct pct_data *d, const char *to)
{
    if (!may_replace(to)) {
        pct_say(self, "%s exists and is not a page of pcollect html: name another file with -o",
                to);
        return PCT_CALL;
    }
    char *under = pct_text("%s.%ld.tmp", to, (long)getpid());
    FILE *out = fopen(under, "wxe");
    int status = PCT_DONE;
    if (!out) {
        status = fail(self, under);
        free(under);
        return status;
    }
    pct_page_put(out, d);
    bool bad = ferror(out) != 0;
    if ((fclose(out) || bad || rename(under, to)) && (status = fail(self, to)))
        remove(under);
    free(under);
    return status;
}

int pct_html_file(const struct pct_command *self, const char *path, const char *to)
{
    static const struct pct_tree_options whole = {0};
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int err = pc_pcol_read_columns(path, &p, &error);
    if (*error.text || err)
        pct_say(self, "%s", *error.text ? error.text : pc_err_text(err));
    if (err)
        return err == PC_ENOENT ? PCT_CALL : PCT_DATA;
    struct pct_data *d = pct_data_new(path, p, pct_symbols_new(p), &whole);
    d->findings = pct_findings_make(d, NULL);
    int status = write_page(self, d, to);
    if (!status && pc_profile_unread(p)) {
        pct_say(self, "%s: %s", path, pc_profile_unread(p));
        status = PCT_DATA;
    }
    pct_data_free(d);
    pc_profile_free(p);
    return status;
}

static int run_html(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    char *to = r.to ? pct_text("%s", r.to) : pct_html_name(line.words[0]);
    int status = pct_html_file(self, line.words[0], to);
    if (!status)
        pct_say(self, "wrote %s: open it in a browser", to);
    free(to);
    return status;
}

const struct pct_command pct_html = {
    .name = "html",
    .synopsis = "[-d] [-o FILE] [PROFILE]",
    .summary = "write a profile as one HTML page for a browser",
    .options = options,
    .argument = "PROFILE",
    .n_most = 1,
    .newest = true,
    .take = take_option,
    .main = run_html,
};
