/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of samples: lines (`flat`), functions, and contexts of computation.
 */
#include "report/samples.h"
#include "report/table.h"

/* Not every kind of rows has every column. */
#define COLUMN_GETTER(name)                                                                        \
    static __attribute__((unused)) void name(const struct pct_data *d, size_t row,                 \
                                             struct pct_value *out)

static void set_error(const struct pct_data *d, struct pct_sampled part, struct pct_value *out)
{
    out->none = !pct_samples_error(part, d->samples->all, &out->number);
}

/* The same columns for each kind of rows. */
#define SAMPLE_GETTERS(kind)                                                                       \
    size_t pct_count_##kind(const struct pct_data *d)                                              \
    {                                                                                              \
        return d->samples->all.samples ? d->samples->kind.n : 0;                                   \
    }                                                                                              \
    static const struct pct_sample_row *kind##_row(const struct pct_data *d, size_t row)           \
    {                                                                                              \
        return &d->samples->kind.row[row];                                                         \
    }                                                                                              \
    COLUMN_GETTER(kind##_function)                                                                 \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->function, out);                                      \
    }                                                                                              \
    COLUMN_GETTER(kind##_file)                                                                     \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->file, out);                                          \
    }                                                                                              \
    COLUMN_GETTER(kind##_line)                                                                     \
    {                                                                                              \
        out->integer = kind##_row(d, row)->line;                                                   \
        out->none = !out->integer;                                                                 \
    }                                                                                              \
    COLUMN_GETTER(kind##_module)                                                                   \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->module, out);                                        \
    }                                                                                              \
    COLUMN_GETTER(kind##_path)                                                                     \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->path, out);                                          \
    }                                                                                              \
    COLUMN_GETTER(kind##_samples)                                                                  \
    {                                                                                              \
        out->number = kind##_row(d, row)->self.samples;                                            \
    }                                                                                              \
    COLUMN_GETTER(kind##_total_samples)                                                            \
    {                                                                                              \
        out->number = kind##_row(d, row)->total.samples;                                           \
    }                                                                                              \
    COLUMN_GETTER(kind##_self)                                                                     \
    {                                                                                              \
        out->number = kind##_row(d, row)->self.ns;                                                 \
    }                                                                                              \
    COLUMN_GETTER(kind##_total)                                                                    \
    {                                                                                              \
        out->number = kind##_row(d, row)->total.ns;                                                \
    }                                                                                              \
    COLUMN_GETTER(kind##_self_percent)                                                             \
    {                                                                                              \
        out->number = pct_text_share(kind##_row(d, row)->self.ns, d->samples->all.ns);             \
    }                                                                                              \
    COLUMN_GETTER(kind##_total_percent)                                                            \
    {                                                                                              \
        out->number = pct_text_share(kind##_row(d, row)->total.ns, d->samples->all.ns);            \
    }                                                                                              \
    COLUMN_GETTER(kind##_self_error)                                                               \
    {                                                                                              \
        set_error(d, kind##_row(d, row)->self, out);                                               \
    }                                                                                              \
    COLUMN_GETTER(kind##_total_error)                                                              \
    {                                                                                              \
        set_error(d, kind##_row(d, row)->total, out);                                              \
    }

SAMPLE_GETTERS(lines)
SAMPLE_GETTERS(functions)
SAMPLE_GETTERS(contexts)

#define SAMPLE_COLUMNS(kind)                                                                       \
    {"samples", "samples", PCT_COUNT, "samples in it, all ranks and threads", kind##_samples},     \
        {"self_s", "self", PCT_NS, "CPU time that they stand for", kind##_self},                   \
        {"total_s", "total", PCT_NS, "the same with what was called from it, MPI calls too",       \
         kind##_total},                                                                            \
        {"total_samples", "total", PCT_COUNT, "samples of total_s", kind##_total_samples},         \
        {"self_percent", "self", PCT_PERCENT, "self_s as a share of all samples",                  \
         kind##_self_percent},                                                                     \
        {"total_percent", "total", PCT_PERCENT, "total_s as a share of all samples",               \
         kind##_total_percent},                                                                    \
        {"self_error_s", "+-", PCT_NS,                                                             \
         "half of the 95 % interval of self_s; empty below 10 samples", kind##_self_error},        \
    {                                                                                              \
        "total_error_s", "+-", PCT_NS,                                                             \
            "half of the 95 % interval of total_s; empty below 10 samples", kind##_total_error     \
    }

const struct pct_column pct_flat_columns[PCT_N_FLAT_COLUMNS] = {
    {"function", "function", PCT_TEXT, "function, or MPI function", lines_function},
    {"file", "file", PCT_TEXT, "source file; empty if unknown", lines_file},
    {"line", "line", PCT_INTEGER, "line; empty if unknown", lines_line},
    {"module", "module", PCT_TEXT, "program or library; empty for an MPI function", lines_module},
    SAMPLE_COLUMNS(lines),
};

const struct pct_column pct_function_columns[PCT_N_FUNCTION_COLUMNS] = {
    {"function", "function", PCT_TEXT, "function, or MPI function", functions_function},
    {"file", "file", PCT_TEXT, "source file; empty if unknown", functions_file},
    {"module", "module", PCT_TEXT, "program or library; empty for an MPI function",
     functions_module},
    SAMPLE_COLUMNS(functions),
};

const struct pct_column pct_computation_columns[PCT_N_COMPUTATION_COLUMNS] = {
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", contexts_path},
    {"function", "function", PCT_TEXT, "the last of them", contexts_function},
    SAMPLE_COLUMNS(contexts),
};
