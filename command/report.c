/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect report: a profile as text, tables, JSON or Markdown.
 */
#include "command/report.h"

#include "analysis/traffic/traffic.h"
#include "base/progress.h"
#include "format/contexts.h"
#include "view/report_print.h"

#include <string.h>

/* Prints messages about symbols to standard error, if the output is for programs and shows what
 * they are about. */
static void tell_complaints(const struct pct_data *d, const struct pct_options *view)
{
    const char *remark;
    if (view->format == PCT_FORMAT_TEXT || !pct_print_shows_places(d, view))
        return;
    for (size_t i = 0; (remark = pct_symbols_remark(d->symbols, i)); i++)
        pct_say(&pct_report, "%s", remark);
}

static bool is_filtered(const struct pct_filter *f)
{
    return f->has_phase || f->region || f->domain;
}

static int refuse_filter(const char *option, const char *value, const char *why)
{
    return pct_refuse(&pct_report, "--%s %s: %s", option, pct_typed(value), why);
}

/* Checks that each filter passes something, so that a misspelt word gives an error and not an empty
 * report. */
static int check_filter(const struct pc_profile *p, struct pct_report_request *r)
{
    char number[PCT_NUMBER_BYTES];
    struct pct_options *view = &r->view;
    struct pct_filter *filter = &view->filter;
    bool phase = !filter->has_phase || !filter->phase, region = !filter->region;
    struct pct_buf no_domain = {0};
    if (r->domain && !(filter->domain = pct_domain_find(p, r->domain, &no_domain)))
        return refuse_filter("domain", r->domain, no_domain.data);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        const char *name = n->kind == PCOLLECT_NODE_REGION ? pc_profile_region(p, n->offset) : NULL;
        phase |= n->kind == PCOLLECT_NODE_PHASE && n->offset == filter->phase;
        region |= name && filter->region && !strcmp(name, filter->region);
    }
    if (!phase)
        return refuse_filter("phase", pct_text_u128(number, filter->phase),
                             "nothing was called in this phase");
    if (!region)
        return refuse_filter("region", filter->region,
                             pct_names_regions(p) ? "no such region; --table regions lists them"
                                                  : pct_no_regions(p));
    const struct pc_profile_table *t =
        view->table_name && !view->table ? pc_profile_table_in_order(p, view->table_name) : NULL;
    bool whole = view->table && view->table->of_whole;
    const char *why = t || whole ? pct_filter_refuses(t, filter) : NULL;
    return why ? refuse_filter(r->by ? "by" : "table", r->by ? r->by : view->table_name, why)
               : PCT_DONE;
}

/* Prints the report. Findings are only for whole runs. */
static int print_report(const struct pc_profile *p, const struct pc_profile *whole,
                        const struct pct_report_request *r)
{
    const struct pct_options *view = &r->view;
    struct pct_buf why = {0};
    struct pct_data *d = pct_data_new(r->file, p, pct_symbols_new(p), &view->tree);
    d->whole = whole;
    if (!is_filtered(&view->filter) && (!view->table_name || !strcmp(view->table_name, "findings")))
        d->findings = pct_findings_make(d, view->thresholds);
    int status = PCT_DONE;
    if (pct_print(stdout, d, view, &why))
        status = pct_refuse(&pct_report, "%s", why.data);
    else
        tell_complaints(d, view);
    pct_buf_free(&why);
    pct_data_free(d);
    return status;
}

/* True for the header alone, which has no values by rank. */
static bool is_header(const struct pct_options *view)
{
    return view->table_name && !strcmp(view->table_name, "header");
}

/* Reads ranks, tables, and contexts in their order, if what is shown may be made of these. False:
 * it is not. */
static bool read_in_order(const struct pct_report_request *r, struct pc_profile **out,
                          struct pc_error *error)
{
    const struct pct_options *view = &r->view;
    if (!view->table || !view->table->in_order || view->by || is_filtered(&view->filter) ||
        r->domain || pc_pcol_read_contexts(r->file, !is_header(view), out, error))
        return false;
    if (!pc_contexts_are_nested(*out) && !pct_open_calls_abort(*out))
        return true;
    pc_profile_free(*out);
    return false;
}

/* Reads ranks and tables, if what is shown may be made of these. False: it is not. */
static bool read_ranks(const struct pct_report_request *r, struct pc_profile **out,
                       struct pc_error *error)
{
    const struct pct_options *view = &r->view;
    if (!view->table_name || view->by || is_filtered(&view->filter) || r->domain ||
        (view->table && !view->table->of_ranks) || pc_pcol_read_ranks(r->file, out, error))
        return false;
    if (view->table || pc_profile_table_in_order(*out, view->table_name))
        return true;
    pc_profile_free(*out);
    return false;
}

/* Reads the profile, without values by rank, or without contexts, if none are shown. */
static int read_profile(const struct pct_report_request *r, struct pc_profile **out)
{
    struct pc_error error = {""};
    pct_progress_show();
    pc_progress_begin("reading", r->file, 0, 0);
    bool part = read_ranks(r, out, &error) || read_in_order(r, out, &error);
    int err = part                  ? PC_OK
              : is_header(&r->view) ? pc_pcol_read_statistics(r->file, out, &error)
              : r->view.by          ? pc_pcol_read_histograms(r->file, out, &error)
                                    : pc_pcol_read_columns(r->file, out, &error);
    pc_progress_end();
    if (*error.text)
        pct_say(&pct_report, "%s", error.text);
    else if (err)
        pct_say(&pct_report, "%s: %s", r->file, pc_err_text(err));
    return !err ? PCT_DONE : err == PC_ENOENT ? PCT_CALL : PCT_DATA;
}

static int report(struct pct_report_request *r)
{
    struct pc_profile *profile = NULL;
    int status = read_profile(r, &profile);
    if (status)
        return status;
    if (pct_report_check_table(&pct_report, r, profile) || check_filter(profile, r)) {
        pc_profile_free(profile);
        return PCT_CALL;
    }
    struct pct_part *part =
        is_filtered(&r->view.filter) ? pct_part_new(profile, &r->view.filter) : NULL;
    status = print_report(part ? pct_part_profile(part) : profile, profile, r);
    const char *unread = pc_profile_unread(profile);
    if (unread) {
        pct_say(&pct_report, "%s: %s", r->file, unread);
        status = PCT_DATA;
    }
    pct_part_free(part);
    pc_profile_free(profile);
    return status;
}

static int run_report(const struct pct_command *self, int argc, char **argv)
{
    struct pct_report_request r;
    int status;
    if (pct_report_read(self, argc, argv, &r, &status))
        status = report(&r);
    if (!status && pct_terminal_shows_messages())
        pct_left_tell_all(self); /* only for a terminal, not for a file */
    return status;
}

const struct pct_command pct_report = {
    .name = "report",
    .synopsis = "[OPTION]... [FILE]",
    .summary = "show a profile: tables, contexts, ranks",
    .details = "Without FILE, the newest profile of this folder is shown.",
    .options = pct_report_options,
    .argument = "FILE",
    .n_most = PCT_ANY_NUMBER,
    .newest = true,
    .take = pct_report_take,
    .help = pct_report_help,
    .main = run_report,
};
