/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of source files for a page (page_sources.h). A profile may come from anybody and name any
 * file, and a page may be sent to anybody: only files with the name of a source are read.
 */
#include "view/page_sources.h"

#include "view/annotate/annotate.h"
#include "view/tables/tables.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct pct_page_line {
    const char *file, *text; /* the text is in the pool of the data */
    size_t line;
};

struct pct_page_file {
    const char *path;
    pc_u128 ns;     /* in MPI and CPU time, there and in all that was called from there */
    bool no_room;   /* its text is left out */
    char note[200]; /* a sentence on its text, or empty */
};

static bool is_source_name(const char *path)
{
    static const char *const ends[] = {
        "c",   "h",   "cc",  "hh",  "cpp", "hpp", "cxx", "hxx", "c++", "h++",  "i",   "ii",
        "inc", "inl", "ipp", "tcc", "tpp", "txx", "def", "l",   "y",   "cu",   "cuh", "cl",
        "f",   "for", "ftn", "f77", "f90", "f95", "f03", "f08", "fpp", "py",   "pyx", "jl",
        "rs",  "go",  "d",   "ads", "adb", "m",   "mm",  "s",   "asm", "swift"};
    const char *end = strrchr(pc_base_name(path), '.');
    for (size_t i = 0; end && i < PC_ARRAY_LEN(ends); i++)
        if (!strcasecmp(end + 1, ends[i]))
            return true;
    return false;
}

static int compare_files(const void *a, const void *b)
{
    const struct pct_page_file *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->path, y->path);
}

/* The files with lines, those with most time first. */
static void list_files(struct pct_page_sources *out)
{
    const struct pct_rolled *r = pct_data_rolled(&out->data, PCT_BY_FILE);
    out->file = pct_alloc(r->n, sizeof *out->file);
    for (size_t i = 0; i < r->n; i++)
        if (r->row[i].file)
            out->file[out->n_files++] = (struct pct_page_file){
                .path = r->row[i].file, .ns = r->row[i].below_ns + r->row[i].total.ns};
    qsort(out->file, out->n_files, sizeof *out->file, compare_files);
}

static size_t bytes_of(const struct pct_source *s)
{
    size_t bytes = 0;
    for (size_t i = 0; i < s->n; i++)
        bytes += strlen(s->lines[i]) + 1;
    return bytes;
}

static void add_lines(struct pct_page_sources *out, const char *path, const struct pct_source *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!*s->lines[i])
            continue;
        out->line = pct_grow(out->line, out->n, &out->room, sizeof *out->line);
        out->line[out->n++] =
            (struct pct_page_line){path, pct_pool_intern(out->data.pool, s->lines[i]), i + 1};
    }
}

/* Reads a file whose text the profile does not store. */
static void read_file(struct pct_page_sources *out, struct pct_page_file *f, size_t *left_bytes)
{
    struct pct_source s;
    pct_source_read(out->data.profile, f->path, &s);
    size_t bytes = bytes_of(&s);
    f->no_room = bytes > *left_bytes;
    if (!s.n && *s.problem)
        pc_format(f->note, sizeof f->note,
                  "This file could not be read when the page was made: %s.", s.problem);
    else if (f->no_room)
        pc_format(f->note, sizeof f->note, "The text of this file has no room in the page.");
    else if (*s.problem)
        pc_format(f->note, sizeof f->note, "This file is %s.", s.problem);
    if (!f->no_room) {
        *left_bytes -= bytes;
        add_lines(out, f->path, &s);
    }
    pct_source_free(&s);
}

static bool is_stored(const struct pc_profile *p, const char *path)
{
    struct pct_source s;
    bool stored = pct_source_read_stored(p, path, &s);
    pct_source_free(&s);
    return stored;
}

void pct_page_sources_make(struct pct_page_sources *out, const struct pct_data *d, bool without)
{
    size_t left_bytes = PCT_PAGE_SOURCE_BYTES;
    *out = (struct pct_page_sources){.data = *d, .without = without};
    list_files(out);
    for (size_t i = 0; i < out->n_files && !without; i++) {
        struct pct_page_file *f = &out->file[i];
        if (is_stored(d->profile, f->path))
            continue;
        if (is_source_name(f->path))
            read_file(out, f, &left_bytes);
        else
            pc_format(f->note, sizeof f->note,
                      "This file was not read, because its name is not that of a source file.");
    }
}

void pct_page_sources_free(struct pct_page_sources *sources)
{
    pct_free(sources->line);
    pct_free(sources->file);
}

void pct_page_sources_notes(struct pct_buf *b, const struct pct_page_sources *sources)
{
    const char *between = "";
    size_t n = 0;
    for (size_t i = 0; i < sources->n_files; i++)
        n += sources->file[i].no_room;
    struct pct_buf text = {0};
    if (sources->without)
        pct_buf_text(&text, "The page was made without the text of source files.");
    else if (n)
        pct_buf_format(
            &text,
            "The text of %zu source %s is left out: a page has up to %d MiB of files that "
            "are read when it is made, those with most time first.",
            n, n == 1 ? "file" : "files", PCT_PAGE_SOURCE_BYTES >> 20);
    pct_buf_text(b, ", \"sources_left_out\": ");
    pct_text_json(b, text.n ? text.data : "");
    pct_buf_text(b, ", \"source_notes\": [");
    for (size_t i = 0; i < sources->n_files; i++) {
        if (!*sources->file[i].note)
            continue;
        pct_buf_format(b, "%s[", between);
        pct_text_json(b, sources->file[i].path);
        pct_buf_text(b, ", ");
        pct_text_json(b, sources->file[i].note);
        pct_buf_text(b, "]");
        between = ", ";
    }
    pct_buf_text(b, "]");
    pct_buf_free(&text);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static size_t count_lines(const struct pct_data *d)
{
    return ((const struct pct_page_sources *)d)->n;
}

static const struct pct_page_line *line_of(const struct pct_cell *c)
{
    return &((const struct pct_page_sources *)c->d)->line[c->row];
}

static void get_file(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, line_of(c)->file, out);
}

static void get_line(const struct pct_cell *c, struct pct_value *out)
{
    out->number = line_of(c)->line;
}

static void get_text(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, line_of(c)->text, out);
}

static const struct pct_column columns[] = {
    {"file", "file", PCT_TEXT, "path as the compiler wrote it", get_file},
    {"line", "line", PCT_COUNT, "number of the line", get_line},
    {"text", "text", PCT_TEXT, "the line", get_text},
};

const struct pct_table pct_page_sources_table = {
    .name = "read_lines",
    .doc = "text of source files, read when the page was made",
    .count = count_lines,
    PCT_COLUMNS(columns),
};
