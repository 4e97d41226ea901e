/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `pcollect report` of a profile made by hand instead of a file: for golden cases and for checks of
 * its JSON. The name in the place of the file picks the profile. `show manual` prints what the
 * manual page takes from the tables; `show -w FILE NAME` writes a profile.
 */
#include "sample.h"

#include "report/report_private.h"

#include <string.h>

static struct sample sample;

static void make_sample(const char *name)
{
    if (!strcmp(name, "solver"))
        sample_solver(&sample);
    else if (!strcmp(name, "hostile"))
        sample_hostile(&sample);
    else
        sample_begin(&sample);
}

static int write_sample(const char *path, const char *name)
{
    struct pc_error error = {""};
    make_sample(name);
    int err = pc_pcol_write(&sample.p, path, 0, &error);
    if (err)
        fprintf(stderr, "show: %s\n", error.text);
    return err ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct pct_options o = {0};
    int status = 0;
    if (argc == 4 && !strcmp(argv[1], "-w"))
        return write_sample(argv[2], argv[3]);
    if (argc == 2 && !strcmp(argv[1], "manual")) {
        pct_options_manual(stdout);
        return 0;
    }
    if (pct_options_read(argc, argv, &o, &status))
        return status;
    make_sample(o.file);
    struct pct_symbols *symbols = pct_symbols_new(&sample.p);
    if (!strcmp(o.file, "solver"))
        sample_teach_solver(symbols);
    if (!strcmp(o.file, "hostile"))
        sample_teach_hostile(symbols);
    if (pct_options_check_table(&o, &sample.p))
        return 2;
    struct pct_data *d = pct_data_new(o.file, &sample.p, symbols, &o.tree);
    d->findings = pct_findings_make(d, o.thresholds);
    pct_print(stdout, d, &o);
    pct_data_free(d);
    return 0;
}
