/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public face of analysis/ and of the tables in view/: include/pcollect/profile.h. This file
 * has profiles; tables, sums, trees, findings and symbols have a file each. Nothing is computed in
 * libpcol/.
 */
#include "libpcol/libpcol_private.h"

#include "analysis/buffer.h"
#include "analysis/findings/findings.h"
#include "base/escape.h"
#include "view/tables/tables.h"

#include <stdio.h>
#include <stdlib.h>

static enum pcol_status status_of(int err)
{
    switch (err) {
    case PC_EFORMAT:
        return PCOL_DAMAGED;
    case PC_EVERSION:
        return PCOL_TOO_NEW;
    case PC_ENOMEM:
        return PCOL_NO_MEMORY;
    default:
        return PCOL_NO_FILE;
    }
}

static void tell(struct pcol_error *out, enum pcol_status status, const char *where,
                 const char *text)
{
    if (!out)
        return;
    struct pc_error whole;
    pc_error_set(&whole, PC_OK, "%s%s%s", where, *where ? ": " : "", text);
    out->status = status;
    pc_escape_line(out->text, whole.text);
}

static void list_tables(struct pcol_profile *p)
{
    size_t n_plugins = p->profile->n_tables;
    p->plugins = pct_alloc(n_plugins, sizeof *p->plugins);
    p->tables = pct_alloc(pct_n_tables + n_plugins, sizeof *p->tables);
    for (size_t i = 0; i < pct_n_tables; i++)
        pct_lib_set_table(&p->tables[p->n_tables++], p, pct_tables[i], p->data);
    for (size_t i = 0; i < n_plugins; i++) {
        struct pct_rows_table *rows = &p->plugins[i];
        pct_rows_table(rows, p->data, &p->profile->tables[i]);
        pct_lib_set_table(&p->tables[p->n_tables++], p, &rows->table, &rows->data);
    }
}

struct opening {
    struct pcol_profile *p;
    const char *path;
};

static void make_data(void *opening)
{
    const struct opening *o = opening;
    struct pcol_profile *p = o->p;
    p->data = pct_data_new(pct_copy(o->path), p->profile, pct_symbols_new(p->profile), &p->options);
    list_tables(p);
}

/* Reads a profile. 0, and `damage` has what could not be read; or an error, and `damage` has its
 * text. */
static int read_profile(struct pcol_profile *p, const char *path, unsigned flags)
{
    struct opening o = {p, path};
    p->options.full_paths = (flags & PCOL_FULL_PATHS) != 0;
    p->memory = pct_memory_new();
    int err = !p->memory                ? PC_ENOMEM
              : flags & PCOL_STATISTICS ? pc_pcol_read_statistics(path, &p->profile, &p->damage)
              : flags & PCOL_HISTOGRAMS ? pc_pcol_read_histograms(path, &p->profile, &p->damage)
                                        : pc_pcol_read_columns(path, &p->profile, &p->damage);
    if (!err)
        err = pct_memory_run(p->memory, make_data, &o);
    if (err == PC_ENOMEM || (err && !*p->damage.text))
        pc_error_set(&p->damage, err, "%s: %s", path, pc_err_text(err));
    return err;
}

struct pcol_profile *pcol_open(const char *path, unsigned flags, struct pcol_error *why_out)
{
    bool both = flags & PCOL_STATISTICS && flags & PCOL_HISTOGRAMS;
    if (both || flags & ~(unsigned)(PCOL_STATISTICS | PCOL_FULL_PATHS | PCOL_HISTOGRAMS)) {
        tell(why_out, PCOL_INVALID_FLAG, "pcol_open",
             both ? "statistics alone have no histograms"
                  : "a flag that this version does not have");
        return NULL;
    }
    struct pcol_profile *p = calloc(1, sizeof *p);
    int err = p ? read_profile(p, path, flags) : PC_ENOMEM;
    if (!err)
        return p;
    if (p)
        tell(why_out, status_of(err), "", p->damage.text);
    else
        tell(why_out, PCOL_NO_MEMORY, path, pc_err_text(err));
    pcol_close(p);
    return NULL;
}

struct asked_warning {
    struct pcol_profile *p;
    size_t i;
    const char *text;
};

/* Finds a complaint, after looking up all symbols: then the complaints are complete. */
static void find_complaint(void *asked)
{
    struct asked_warning *a = asked;
    const char *text = pct_symbols_remark(pct_data_symbols(a->p->data), a->i);
    a->text = text ? pct_text_escaped(text) : NULL;
}

const char *pcol_warning(struct pcol_profile *p, size_t i)
{
    const char *unread = pc_profile_unread(p->profile);
    if (*p->damage.text && !i--) {
        pc_escape_line(p->damage.text, p->damage.text);
        return p->damage.text;
    }
    if (unread && !i--) {
        pc_error_set(&p->unread, PC_EFORMAT, "%s: %s", p->data->file, unread);
        pc_escape_line(p->unread.text, p->unread.text);
        return p->unread.text;
    }
    struct asked_warning a = {.p = p, .i = i};
    pct_lib_run(p, find_complaint, &a);
    return a.text;
}

void pcol_close(struct pcol_profile *p)
{
    if (!p)
        return;
    pct_memory_free(p->memory);
    pc_profile_free(p->profile);
    free(p);
}
