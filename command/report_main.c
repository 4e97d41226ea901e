/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `pcollect report`: the entry point, called by tools/. Reads the options and the profile, prints,
 * and decides the exit status.
 */
#include "command/report.h"

#include "analysis/traffic/traffic.h"
#include "view/report_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Messages about symbols go to standard error where the output is for programs. */
static void tell_complaints(const struct pct_data *d)
{
    for (uint32_t i = 0; i < d->profile->n_modules; i++) {
        const char *complaint = pct_symbols_complaint(d->symbols, i);
        if (complaint)
            fprintf(stderr, "pcollect report: %s\n", complaint);
    }
}

static bool is_filtered(const struct pct_options *o)
{
    return o->filter.has_phase || o->filter.region || o->filter.domain;
}

static int refuse_filter(const char *option, const char *value, const char *why)
{
    fprintf(stderr, "pcollect report: --%s %s: %s\n", option, value, why);
    return 2;
}

/* Each filter has to pass something: a word that was misspelt is not an empty report. */
static int check_filter(const struct pc_profile *p, struct pct_options *o)
{
    char number[PCT_NUMBER_BYTES];
    bool phase = !o->filter.has_phase, region = !o->filter.region;
    if (o->domain && !(o->filter.domain = pct_domain_find(p, o->domain)))
        return refuse_filter("domain", o->domain,
                             "no communicator of the profile has this id, or it alone this name; "
                             "--table communicators lists them (the plugin domain makes it)");
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        const char *name = n->kind == PCOLLECT_NODE_REGION ? pc_profile_region(p, n->offset) : NULL;
        phase |= n->kind == PCOLLECT_NODE_PHASE && n->offset == o->filter.phase;
        region |= name && o->filter.region && !strcmp(name, o->filter.region);
    }
    if (!phase)
        return refuse_filter("phase", pct_text_u128(number, o->filter.phase),
                             "nothing was called in this phase");
    if (!region)
        return refuse_filter("region", o->filter.region,
                             "no such region; --table regions lists them");
    const struct pc_profile_table *t =
        o->table_name && !o->table ? pc_profile_table(p, o->table_name) : NULL;
    const char *why = t ? pct_filter_refuses(t, &o->filter) : NULL;
    if (why)
        return refuse_filter("table", o->table_name, why);
    return 0;
}

/* Findings are about whole runs. */
static int print_report(const struct pc_profile *p, const struct pct_options *o)
{
    struct pct_data *d = pct_data_new(o->file, p, pct_symbols_new(p), &o->tree);
    if (!is_filtered(o) && (!o->table_name || !strcmp(o->table_name, "findings")))
        d->findings = pct_findings_make(d, o->thresholds);
    int err = pct_print(stdout, d, o);
    if (!err && o->format != PCT_FORMAT_TEXT)
        tell_complaints(d);
    pct_data_free(d);
    return err;
}

int pct_report_main(int argc, char **argv)
{
    struct pct_options options = {0};
    struct pc_profile *profile = NULL;
    struct pc_error error = {""};
    int status = 0;
    if (pct_options_read(argc, argv, &options, &status))
        return status;
    bool header = options.table_name && !strcmp(options.table_name, "header");
    int err = header ? pc_pcol_read_statistics(options.file, &profile, &error)
                     : pc_pcol_read_columns(options.file, &profile, &error);
    if (*error.text)
        fprintf(stderr, "pcollect report: %s\n", error.text);
    if (err) {
        if (!*error.text)
            fprintf(stderr, "pcollect report: %s: %s\n", options.file, pc_err_text(err));
        return err == PC_ENOENT ? 2 : 1;
    }
    if (pct_options_check_table(&options, profile) || check_filter(profile, &options)) {
        pc_profile_free(profile);
        return 2;
    }
    struct pct_part *part = is_filtered(&options) ? pct_part_new(profile, &options.filter) : NULL;
    if (print_report(part ? pct_part_profile(part) : profile, &options))
        status = 2;
    const char *unread = pc_profile_unread(profile);
    if (unread) {
        fprintf(stderr, "pcollect report: %s: %s\n", options.file, unread);
        status = 1;
    }
    pct_part_free(part);
    pc_profile_free(profile);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "pcollect report: standard output: %s\n", strerror(errno));
        return 1;
    }
    return status;
}
