/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `pcollect report`: the entry point, called by tools/. Reads the options and the profile, prints,
 * and decides the exit status.
 */
#include "report/report.h"

#include "report/report_private.h"

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

static void print_rows_table(const struct pct_data *d, const struct pct_options *o)
{
    struct pct_rows_table t;
    pct_rows_table(&t, d, pc_profile_table(d->profile, o->table_name));
    pct_print_table(stdout, &t.data, &t.table, o);
}

static void print_report(const struct pc_profile *p, const struct pct_options *o)
{
    struct pct_data *d = pct_data_new(o->file, p, pct_symbols_new(p), &o->tree);
    d->findings = pct_findings_make(d, o->thresholds);
    if (o->format == PCT_FORMAT_JSON)
        pct_print_json(stdout, d, o);
    else if (o->table)
        pct_print_table(stdout, d, o->table, o);
    else if (o->table_name)
        print_rows_table(d, o);
    else
        pct_print_text(stdout, d, o);
    if (o->format != PCT_FORMAT_TEXT)
        tell_complaints(d);
    pct_data_free(d);
}

int pct_report_main(int argc, char **argv)
{
    struct pct_options options = {0};
    struct pc_profile *profile = NULL;
    struct pc_error error = {""};
    int status = 0;
    if (pct_options_read(argc, argv, &options, &status))
        return status;
    int err = pc_pcol_read(options.file, &profile, &error);
    if (*error.text)
        fprintf(stderr, "pcollect report: %s\n", error.text);
    if (err) {
        if (!*error.text)
            fprintf(stderr, "pcollect report: %s: %s\n", options.file, pc_err_text(err));
        return err == PC_ENOENT ? 2 : 1;
    }
    if (pct_options_check_table(&options, profile)) {
        pc_profile_free(profile);
        return 2;
    }
    print_report(profile, &options);
    pc_profile_free(profile);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "pcollect report: standard output: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
