/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `modules`.
 */
#include "view/tables/tables.h"

static size_t count_modules(const struct pct_data *d)
{
    return d->profile->n_modules;
}

static void module_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->modules[c->row].path, out);
}

static void module_build_id(const struct pct_cell *c, struct pct_value *out)
{
    const struct pc_profile_module *m = &c->d->profile->modules[c->row];
    struct pct_buf b = {0};
    pct_buf_put(&b, "", 0);
    pct_buf_bytes(&b, m->build_id, m->build_id_bytes);
    pct_value_text(c->d, b.data, out);
    pct_buf_free(&b);
}

static void module_frames(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_data_frames(c->d)[c->row];
}

static void module_symbols(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(
        pct_symbols_state_text(pct_symbols_state(pct_data_symbols(c->d), (uint32_t)c->row)), out);
}

static void module_complaint(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(pct_symbols_complaint(pct_data_symbols(c->d), (uint32_t)c->row), out);
}

static const struct pct_column module_columns[] = {
    {"module", "module", PCT_TEXT, "path of the program or library when it ran", module_path},
    {"build_id", "build-id", PCT_TEXT, "its build-id in hexadecimal; empty without",
     module_build_id},
    {"frames", "frames", PCT_COUNT, "nodes of the calling-context tree in it", module_frames},
    {"symbols", "symbols", PCT_TEXT,
     "lines: functions and lines are known; functions: a symbol table only; stripped: neither; "
     "gone, changed (another build-id), unreadable: the file is not there as it ran; no file: of "
     "the kernel; unused: no frame in it; off: pcollect was built without libdw",
     module_symbols},
    {"note", "note", PCT_TEXT, "what is wrong with its symbols, and the cure", module_complaint},
};

const struct pct_table pct_modules_table = {
    .name = "modules",
    .doc = "one row for each program or library that frames are in",
    .count = count_modules,
    PCT_COLUMNS(module_columns),
};
