/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of source files: from the table `source_lines` of the profile (file, line; text), else from
 * the file system. A file that is younger than the run is reported.
 */
#include "view/annotate/annotate.h"

#include "analysis/symbols/stored_table.h"
#include "view/sentence.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE, LINE, TEXT, N_COLUMNS, N_KEYS = TEXT };
enum { MOST_BYTES = 64 << 20, MOST_LINES = 1 << 20 };

static const struct pcollect_column columns[N_COLUMNS] = {
    [SOURCE] = {"file", "path as the compiler wrote it", PCOLLECT_COLUMN_STRING, 0,
                PCOLLECT_UNIT_COUNT, 0},
    [LINE] = {"line", "number of the line", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    [TEXT] = {"text", "the line", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT, 0},
};
const struct pcollect_table pct_source_lines_table = {
    .name = "source_lines",
    .doc = "text of source files, stored by pcollect embed --sources",
    .columns = columns,
    .n_keys = N_KEYS,
    .n_values = N_COLUMNS - N_KEYS};

void pct_source_free(struct pct_source *s)
{
    pct_free(s->lines);
    pct_free(s->text);
    *s = (struct pct_source){0};
}

/* Stores the text of a line; unknown lines before it are empty. */
static void set_line(struct pct_source *s, size_t *room, size_t line, const char *text)
{
    s->lines = pct_grow(s->lines, line, room, sizeof *s->lines);
    while (s->n < line)
        s->lines[s->n++] = "";
    s->lines[line - 1] = text;
}

bool pct_source_read_stored(const struct pc_profile *p, const char *path, struct pct_source *out)
{
    const struct pc_profile_table *t = pct_stored_find(p, &pct_source_lines_table);
    size_t room = 0;
    *out = (struct pct_source){0};
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        const uint64_t *row = t->cells + (size_t)i * N_COLUMNS;
        if (row[LINE] && row[LINE] <= MOST_LINES &&
            !strcmp(pc_profile_string(p, row[SOURCE]), path))
            set_line(out, &room, (size_t)row[LINE], pc_profile_string(p, row[TEXT]));
    }
    return out->n != 0;
}

/* The whole file, terminated; NULL with errno. */
static char *read_file(const char *path, struct stat *st)
{
    /* A FIFO would wait for a writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    char *text = NULL;
    if (!f) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    bool regular = fstat(fd, st) == 0 && S_ISREG(st->st_mode);
    if (!regular || st->st_size > MOST_BYTES) {
        errno = regular ? EFBIG : EINVAL;
    } else {
        text = pct_alloc((size_t)st->st_size + 1, 1);
        text[fread(text, 1, (size_t)st->st_size, f)] = '\0';
    }
    fclose(f);
    return text;
}

static void split_lines(struct pct_source *s)
{
    size_t room = 0;
    for (char *at = s->text; *at && s->n < MOST_LINES;) {
        char *end = at + strcspn(at, "\n");
        bool last = !*end;
        *end = '\0';
        set_line(s, &room, s->n + 1, at);
        at = last ? end : end + 1;
    }
}

static void say_newer(struct pct_source *s, uint64_t start_ns, uint64_t changed_ns)
{
    struct pct_buf b = {0};
    pct_buf_text(&b, "newer than the run: changed ");
    pct_print_moment(&b, changed_ns);
    pct_buf_text(&b, ", the run began ");
    pct_print_moment(&b, start_ns);
    pct_buf_text(&b, "; lines may have moved");
    pc_format(s->problem, sizeof s->problem, "%s", b.data);
    pct_buf_free(&b);
}

void pct_source_read(const struct pc_profile *p, const char *path, struct pct_source *out)
{
    struct stat st;
    uint64_t start_ns = pct_totals_start_ns(p);
    if (pct_source_read_stored(p, path, out))
        return;
    out->text = read_file(path, &st);
    if (!out->text) {
        pc_format(out->problem, sizeof out->problem, "%s", strerror(errno));
        return;
    }
    split_lines(out);
    out->newer = start_ns && (uint64_t)st.st_mtime > start_ns / 1000000000u;
    if (out->newer)
        say_newer(out, start_ns, (uint64_t)st.st_mtime * 1000000000u);
}

/* ---- Storing --------------------------------------------------------------------------------- */

/* Adds the lines of a file. False: it was changed after the start of the run, so its lines may be
 * others than those that ran. */
static bool add_file(struct pct_store *s, const struct pc_profile *p, const char *path)
{
    struct pct_source text;
    pct_source_read(p, path, &text);
    bool newer = text.newer;
    for (size_t i = 0; i < text.n && !newer; i++) {
        struct pct_buf line = {0};
        if (*text.lines[i]) {
            pct_buf_text(&line, text.lines[i]);
            pct_store_row(s, (const struct pct_stored_cell[]){
                                 {.text = path}, {.number = i + 1}, {.text = line.data}});
        }
        pct_buf_free(&line);
    }
    pct_source_free(&text);
    return !newer;
}

void pct_source_store(const struct pct_data *d, struct pct_stores *all, struct pc_error *remark)
{
    const char *newer = NULL;
    size_t n_newer = 0;
    struct pct_rolled *files =
        pct_roll_up(d->totals, d->symbols, pct_data_samples(d), NULL, PCT_BY_FILE);
    struct pct_store *s = pct_stores_add(all, &pct_source_lines_table);
    for (size_t i = 0; i < files->n; i++)
        if (files->row[i].file && !add_file(s, d->profile, files->row[i].file) && !n_newer++)
            newer = files->row[i].file;
    if (n_newer == 1)
        pc_error_set(remark, PC_OK, "%s is newer than the run: its text is not stored", newer);
    else if (n_newer)
        pc_error_set(remark, PC_OK,
                     "%s and %zu other source files are newer than the run: their text is not "
                     "stored",
                     newer, n_newer - 1);
    pct_rolled_free(files);
}
