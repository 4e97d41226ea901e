/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pages of several profiles: those of several numbers of ranks as pcollect scale compares them,
 * those of one number as pcollect diff does.
 */
#include "analysis/compare/difference.h"
#include "analysis/compare/scaling.h"
#include "command/command.h"
#include "command/html.h"
#include "view/page.h"

static int fail_compare(const struct pct_command *self, int err, const struct pc_error *error)
{
    if (err == PC_EARG)
        return pct_refuse(self, "%s", error->text);
    pct_say(self, "%s", error->text);
    return PCT_DATA;
}

static void put_scale(FILE *out, const void *subject)
{
    pct_page_put_scale(out, subject);
}

static void put_diff(FILE *out, const void *subject)
{
    pct_page_put_diff(out, subject);
}

static int write_scale(const struct pct_command *self, const struct pct_run *runs, size_t n,
                       const struct pct_html_request *r)
{
    struct pct_scale_options how = {.scaling = r->strong ? PCT_SCALING_STRONG
                                               : r->weak ? PCT_SCALING_WEAK
                                                         : PCT_SCALING_UNKNOWN,
                                    .predict_size = 1};
    struct pct_scale *s;
    struct pc_error error = {""};
    if (pct_runs_check(self, runs, n))
        return PCT_DATA;
    int err = pct_scale_make(runs, n, &how, &s, &error);
    if (!err)
        pct_scale_find_branches(s);
    if (err)
        return fail_compare(self, err, &error);
    int status = pct_html_write(self, r->to, put_scale, s);
    pct_scale_free(s);
    return status;
}

static int write_diff(const struct pct_command *self, const struct pct_run *runs, size_t n_before,
                      size_t n, const struct pct_html_request *r)
{
    struct pc_error error = {""};
    if (pct_runs_check(self, runs, n_before) || pct_runs_check(self, runs + n_before, n - n_before))
        return PCT_DATA;
    struct pct_diff *d = pct_diff_make(runs, n_before, n - n_before, PCT_DIFF_TIME, &error);
    if (!d)
        return fail_compare(self, PC_EIO, &error);
    int status = pct_html_write(self, r->to, put_diff, d);
    pct_diff_free(d);
    return status;
}

static bool same_ranks(const struct pct_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (runs[i].n_ranks != runs[0].n_ranks)
            return false;
    return true;
}

static int write_several(const struct pct_command *self, const struct pct_run *runs,
                         const struct pct_line *line, struct pct_html_request *r)
{
    size_t n = line->n_words, n_before = line->n_before;
    bool separated = n_before < n, asked = r->strong || r->weak || n > 2;
    bool by_threads = asked && pct_runs_differ_in_threads(runs, n);
    bool diff = separated || (same_ranks(runs, n) && !by_threads);
    if (separated && (r->strong || r->weak))
        return pct_refuse(self, "--strong, --weak: profiles before and after -- are compared "
                                "whatever their numbers of ranks; leave out --");
    if (diff && (r->strong || r->weak))
        return pct_refuse(self, "--strong, --weak: all profiles have the same number of ranks, %u",
                          runs[0].n_ranks);
    if (diff && !separated && n > 2)
        return pct_refuse(self,
                          "%zu profiles with the same number of ranks: put -- between those before "
                          "and those after",
                          n);
    if (!n_before)
        return pct_refuse(self, "give profiles before -- too");
    if (!r->to)
        r->to = diff ? "difference.html" : "scaling.html";
    return diff ? write_diff(self, runs, separated ? n_before : 1, n, r)
                : write_scale(self, runs, n, r);
}

int pct_html_compare(const struct pct_command *self, const struct pct_line *line,
                     struct pct_html_request *r)
{
    int status = PCT_DONE;
    struct pct_run *runs = pct_runs_look(self, line->words, line->n_words, false, &status);
    if (!runs)
        return status;
    status = pct_runs_unite(self, runs, line->n_words);
    if (!status)
        status = write_several(self, runs, line, r);
    pct_runs_close(runs, line->n_words);
    return status;
}
