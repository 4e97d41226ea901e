/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of the instructions that `pcollect embed --assembly` stored, those of `annotate
 * --assembly`. The instructions themselves are in the table `instructions` of the profile.
 */
#include "view/page_code.h"

#include "view/annotate/annotate.h"
#include "view/tables/tables.h"

void pct_page_code_make(struct pct_page_code *out, const struct pct_data *d)
{
    *out = (struct pct_page_code){.data = *d};
    out->row = pct_assembly_figures(d, &out->n);
}

void pct_page_code_free(struct pct_page_code *code)
{
    pct_free(code->row);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static size_t count_rows(const struct pct_data *d)
{
    return ((const struct pct_page_code *)d)->n;
}

static const struct pct_instruction *row_of(const struct pct_cell *c)
{
    return &((const struct pct_page_code *)c->d)->row[c->row];
}

static void get_row(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->row;
}

static void get_samples(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->sampled.samples;
}

static void get_cpu(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->sampled.ns;
}

static void get_mpi(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->mpi_ns;
}

static const struct pct_column columns[] = {
    {"row", "row", PCT_COUNT, "row of the table instructions, from 0", get_row},
    {"samples", "samples", PCT_COUNT, "samples of the instruction", get_samples},
    {"cpu_exclusive_s", "self", PCT_NS, "CPU time that they stand for", get_cpu},
    {"mpi_exclusive_s", "in MPI", PCT_NS, "time in the MPI call that it makes", get_mpi},
};

const struct pct_table pct_page_code_table = {
    .name = "instruction_figures",
    .doc = "one row for each stored instruction that was sampled or calls MPI",
    .count = count_rows,
    PCT_COLUMNS(columns),
};
