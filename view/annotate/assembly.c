/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machine code with figures beside its instructions. The disassembly comes from the system's
 * objdump, which is run on the module from the first to the last address of interest; its output is
 * split into functions, and those with little time are dropped. A profile can store it: the table
 * `instructions` has a row for each instruction of the functions with most time, with its source
 * line. If a module is in that table, objdump is not used for it.
 *
 * A sample belongs to the instruction at its address. The time of an MPI call belongs to the
 * instruction before the address to which the call returned.
 */
#include "analysis/symbols/short_name.h"
#include "analysis/symbols/stored_table.h"
#include "view/annotate/annotate.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REACH = 1 << 16 }; /* bytes around the addresses, to cover whole functions */

/* Figures of one address of a module. */
struct place {
    uint32_t module;
    uint64_t offset;
    bool returns; /* the address that a call returns to */
    struct pct_sampled sampled;
    pc_u128 mpi_ns;
};

struct places {
    struct place *list; /* sorted, each address and kind once */
    size_t n, room;
    pc_u128 all_ns;
};

struct instruction {
    uint64_t address;
    char *text;
    uint32_t row; /* of the table that it was read from */
};

/* A function with its instructions, to be stored. */
struct kept {
    uint32_t module;
    char *name;
    struct instruction *list;
    size_t n;
    pc_u128 ns;
};

/* State of a pass; `take` is called for each function with a large enough part of the run. */
struct code {
    void (*take)(struct code *c, pc_u128 ns);
    bool stored_only; /* no file is read */
    FILE *out;
    const struct pct_annotate *a;
    const struct places *places;
    size_t first, end; /* places of the module */
    char *name;        /* objdump's name of the function that is being read */
    char *around;      /* name of a function into which the requested one is inlined */
    struct instruction *list;
    size_t n, room;
    size_t n_printed;
    struct kept *kept;
    size_t n_kept, kept_room;
    struct pct_instruction *figures;
    size_t n_figures, figures_room;
};

#define TABLE "instructions"

enum { MODULE, OFFSET, TEXT, FUNCTION, SOURCE, LINE, N_COLUMNS, N_KEYS = TEXT };

static const struct pc_profile_column columns[N_COLUMNS] = {
    [MODULE] = {(char *)"module", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
    [OFFSET] = {(char *)"offset", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT},
    [TEXT] = {(char *)"text", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
    [FUNCTION] = {(char *)"function", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
    [SOURCE] = {(char *)"file", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
    [LINE] = {(char *)"line", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
};

/* ---- Figures by address -----------------------------------------------------------------------
 */

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->returns - y->returns;
}

static void add_place(struct places *s, const struct pc_profile_node *n, struct place place)
{
    if (n->module == PC_NO_INDEX)
        return;
    place.module = n->module;
    place.offset = n->offset;
    s->list = pct_grow(s->list, s->n, &s->room, sizeof *s->list);
    s->list[s->n++] = place;
}

static void gather(struct places *s, const struct pct_data *d)
{
    const struct pc_profile *p = d->profile;
    s->all_ns =
        d->totals->context_mpi_ns + pct_data_samples(d)->all.ns - pct_data_samples(d)->mpi.ns;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        struct pct_sampled sampled = pct_samples_of(pct_data_samples(d), i);
        uint32_t caller = p->nodes[pct_totals_call(p, i)].parent;
        if (n->kind == PCOLLECT_NODE_POINT && sampled.samples)
            add_place(s, n, (struct place){.sampled = sampled});
        else if (d->totals->exclusive_ns[i] && p->nodes[caller].kind == PCOLLECT_NODE_FRAME)
            add_place(s, &p->nodes[caller],
                      (struct place){.returns = true, .mpi_ns = d->totals->exclusive_ns[i]});
    }
    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, compare_places);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (n && !compare_places(&s->list[n - 1], &s->list[i])) {
            pct_sampled_add(&s->list[n - 1].sampled, s->list[i].sampled);
            s->list[n - 1].mpi_ns += s->list[i].mpi_ns;
        } else {
            s->list[n++] = s->list[i];
        }
    }
    s->n = n;
}

/* The first place of the module whose offset is not below `lo`. */
static size_t first_place(const struct code *c, uint64_t lo)
{
    size_t from = c->first, to = c->end;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (c->places->list[middle].offset < lo)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The first place from the i-th on that is in [lo, hi); c->end: there is none. A return address
 * counts for the byte before it. */
static size_t next_place(const struct code *c, size_t i, uint64_t lo, uint64_t hi)
{
    for (; i < c->end && c->places->list[i].offset <= hi; i++) {
        uint64_t at = c->places->list[i].offset - (c->places->list[i].returns ? 1 : 0);
        if (at >= lo && at < hi)
            return i;
    }
    return c->end;
}

/* Sums over places of the module in [lo, hi). */
static struct place sum_between(const struct code *c, uint64_t lo, uint64_t hi)
{
    struct place sum = {0};
    for (size_t i = first_place(c, lo); (i = next_place(c, i, lo, hi)) < c->end; i++) {
        pct_sampled_add(&sum.sampled, c->places->list[i].sampled);
        sum.mpi_ns += c->places->list[i].mpi_ns;
    }
    return sum;
}

/* ---- Functions --------------------------------------------------------------------------------
 */

static void put_figures(const struct code *c, const struct place *s)
{
    char samples[PCT_NUMBER_BYTES], mpi[PCT_NUMBER_BYTES];
    struct pct_buf time = {0};
    pct_buf_put(&time, "", 0);
    if (s->sampled.samples)
        pct_sampled_text(&time, s->sampled, pct_data_samples(c->a->data)->whole, false);
    fprintf(c->out, "%9s %17s %9s  ",
            s->sampled.samples ? pct_text_count(samples, s->sampled.samples) : "", time.data,
            s->mpi_ns ? pct_text_time(mpi, s->mpi_ns) : "");
    pct_buf_free(&time);
}

static uint64_t end_of(const struct code *c, size_t i)
{
    return i + 1 < c->n ? c->list[i + 1].address : c->list[i].address + 16;
}

/* The frames at the i-th place: the function that the machine runs, then what is inlined there. */
static struct pct_place frames_at(const struct code *c, size_t i)
{
    const struct place *s = &c->places->list[i];
    return pct_symbols_find(c->a->data->symbols, s->module, s->offset + (s->returns ? 0 : 1));
}

/* The name by which reports call the function that is being read; objdump has that of the linker,
 * which differs in Fortran. */
static const char *name_of(const struct code *c)
{
    uint64_t lo = c->list[0].address;
    size_t i = next_place(c, first_place(c, lo), lo, end_of(c, c->n - 1));
    const char *name = i < c->end ? frames_at(c, i).frames[0].function : NULL;
    return name ? name : c->name;
}

/* True if the function that is being read is asked for. Notes it as `around` if the one that is
 * asked for is inlined into it. */
static bool is_asked_for(struct code *c)
{
    uint64_t lo = c->list[0].address, hi = end_of(c, c->n - 1);
    const char *asked = c->a->function;
    if (!asked || pct_name_means(c->name, asked) || pct_name_means(name_of(c), asked))
        return true;
    for (size_t i = first_place(c, lo); !c->around && (i = next_place(c, i, lo, hi)) < c->end;
         i++) {
        struct pct_place place = frames_at(c, i);
        for (uint32_t k = 1; k < place.n_frames && !c->around; k++)
            if (place.frames[k].function && pct_name_means(place.frames[k].function, asked))
                c->around = pct_copy(name_of(c));
    }
    return false;
}

static void print_function(struct code *c, pc_u128 ns)
{
    char share[PCT_NUMBER_BYTES];
    struct pct_buf text = {0};
    c->n_printed++;
    pct_text_escape(&text, name_of(c), PCT_ESCAPE_CELL);
    fprintf(c->out,
            "\n%s: %s of the time in MPI and of sampled computation\n"
            "  samples              time    in MPI  instruction\n",
            text.data, pct_text_percent_1(share, pct_text_share(ns, c->places->all_ns)));
    for (size_t i = 0; i < c->n; i++) {
        struct place one = sum_between(c, c->list[i].address, end_of(c, i));
        put_figures(c, &one);
        pct_buf_clear(&text);
        pct_text_escape(&text, c->list[i].text, PCT_ESCAPE_CELL);
        fprintf(c->out, "%6llx  %s\n", (unsigned long long)c->list[i].address,
                text.n ? text.data : "");
    }
    pct_buf_free(&text);
}

/* Keeps a function; takes over its name and instructions. */
static void keep_function(struct code *c, pc_u128 ns)
{
    c->kept = pct_grow(c->kept, c->n_kept, &c->kept_room, sizeof *c->kept);
    c->kept[c->n_kept++] = (struct kept){.module = c->places->list[c->first].module,
                                         .name = c->name,
                                         .list = c->list,
                                         .n = c->n,
                                         .ns = ns};
    c->name = NULL;
    c->list = NULL;
    c->n = c->room = 0;
}

/* Notes the figures of each instruction of the function. */
static void note_figures(struct code *c, pc_u128 ns)
{
    (void)ns;
    for (size_t i = 0; i < c->n; i++) {
        struct place one = sum_between(c, c->list[i].address, end_of(c, i));
        if (!one.sampled.samples && !one.mpi_ns)
            continue;
        c->figures = pct_grow(c->figures, c->n_figures, &c->figures_room, sizeof *c->figures);
        c->figures[c->n_figures++] =
            (struct pct_instruction){c->list[i].row, one.sampled, one.mpi_ns};
    }
}

static void end_function(struct code *c)
{
    struct place all = {0};
    if (c->n && is_asked_for(c))
        all = sum_between(c, c->list[0].address, end_of(c, c->n - 1));
    pc_u128 ns = all.sampled.ns + all.mpi_ns;
    if (ns && (c->a->function || pct_annotate_has_enough(c->a, all.mpi_ns, all.sampled.ns)))
        c->take(c, ns);
    for (size_t i = 0; i < c->n; i++)
        pct_free(c->list[i].text);
    c->n = 0;
    pct_free(c->name);
    c->name = NULL;
}

static char *copy(const char *text, size_t n)
{
    return memcpy(pct_alloc(n + 1, 1), text, n);
}

static void add_instruction(struct code *c, uint64_t address, const char *text, uint32_t row)
{
    c->list = pct_grow(c->list, c->n, &c->room, sizeof *c->list);
    c->list[c->n++] = (struct instruction){address, pct_copy(text), row};
}

/* "0000000000001139 <main>:" begins a function, "    1139:\tpush   %rbp" is an instruction. */
static void take_line(struct code *c, char *line)
{
    char *end;
    uint64_t address = strtoull(line, &end, 16);
    line[strcspn(line, "\n")] = '\0';
    size_t n = strlen(line);
    if (end != line && !strncmp(end, " <", 2) && n > 2 && !strcmp(line + n - 2, ">:")) {
        end_function(c);
        c->name = copy(end + 2, (size_t)(line + n - 2 - (end + 2)));
    } else if (end != line && !strncmp(end, ":\t", 2) && c->name) {
        struct pct_buf plain = {0};
        for (const char *s = end + 2; *s; s++)
            pct_buf_put(&plain, *s == '\t' ? " " : s, 1);
        add_instruction(c, address, plain.n ? plain.data : "", 0);
        pct_buf_free(&plain);
    }
}

/* ---- objdump ----------------------------------------------------------------------------------
 */

/* Starts objdump. Returns its standard output; NULL with errno. */
static FILE *start_objdump(const char *path, uint64_t lo, uint64_t hi, pid_t *pid_out)
{
    char from[64], to[64];
    int ends[2];
    char *no_environment[] = {NULL}; /* so that its output is in English */
    pc_format(from, sizeof from, "--start-address=0x%llx", (unsigned long long)lo);
    pc_format(to, sizeof to, "--stop-address=0x%llx", (unsigned long long)hi);
    char *argv[] = {
        (char *)"objdump", (char *)"-d", (char *)"-C", (char *)"--no-show-raw-insn", from, to,
        (char *)path,      NULL};
    posix_spawn_file_actions_t actions;
    if (pipe(ends))
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int err = posix_spawnp(pid_out, "objdump", &actions, NULL, argv, no_environment);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *in = err ? NULL : fdopen(ends[0], "r");
    if (!in)
        close(ends[0]);
    errno = err ? err : errno;
    return in;
}

static int read_module(struct code *c, const char *path, struct pc_error *error)
{
    const struct place *list = c->places->list;
    uint64_t lo = list[c->first].offset, hi = list[c->end - 1].offset + REACH;
    char *line = NULL;
    size_t room = 0;
    pid_t pid;
    int status = 0;
    FILE *in = start_objdump(path, lo > REACH ? lo - REACH : 0, hi, &pid);
    if (!in)
        return pc_error_set(error, PC_EIO, "objdump: %s; it is part of the package binutils",
                            strerror(errno));
    while (getline(&line, &room, in) > 0)
        take_line(c, line);
    end_function(c);
    free(line);
    fclose(in);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status)
        return pc_error_set(error, PC_EIO, "%s: objdump cannot disassemble it", path);
    return PC_OK;
}

/* ---- All --------------------------------------------------------------------------------------
 */

/* True if the file is there and has not changed; finds this out by looking up one of its
 * addresses. */
static bool is_there(const struct pct_data *d, const struct place *place, struct pc_error *error)
{
    struct pct_symbols *files = pct_symbols_new_files(d->profile);
    pct_symbols_find(files, place->module, place->offset);
    enum pct_symbols_state state = pct_symbols_state(files, place->module);
    const char *complaint = pct_symbols_complaint(files, place->module);
    bool there = state == PCT_SYMBOLS_LINES || state == PCT_SYMBOLS_FUNCTIONS ||
                 state == PCT_SYMBOLS_NONE || state == PCT_SYMBOLS_OFF;
    if (!there && complaint)
        pc_error_set(error, PC_EIO, "%s", complaint);
    pct_symbols_free(files);
    return there;
}

/* False: the profile has no instructions of the module. */
static bool read_stored(struct code *c, uint32_t module)
{
    const struct pct_data *d = c->a->data;
    const struct pc_profile *p = d->profile;
    const struct pc_profile_table *t = pct_stored_find(p, TABLE, columns, N_KEYS, N_COLUMNS);
    const char *name = pct_stored_module(&p->modules[module], d->pool);
    uint64_t function = 0;
    bool any = false;
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        const uint64_t *row = t->cells + (size_t)i * N_COLUMNS;
        if (!row[TEXT] || !row[FUNCTION] || strcmp(pc_profile_string(p, row[MODULE]), name) != 0)
            continue;
        if (!any || row[FUNCTION] != function) {
            end_function(c);
            c->name = pct_copy(pc_profile_string(p, row[FUNCTION]));
        }
        function = row[FUNCTION];
        add_instruction(c, row[OFFSET], pc_profile_string(p, row[TEXT]), i);
        any = true;
    }
    end_function(c);
    return any;
}

/* True if one of the places of the module is in the function that is asked for. */
static bool has_asked(const struct code *c)
{
    for (size_t i = c->first; c->a->function && i < c->end; i++) {
        struct pct_place place = frames_at(c, i);
        for (uint32_t k = 0; k < place.n_frames; k++)
            if (place.frames[k].function &&
                pct_name_means(place.frames[k].function, c->a->function))
                return true;
    }
    return false;
}

/* Reads each module with a large enough part of the run, or with the function that is asked for.
 * Keeps the last error that has a text. */
static int read_modules(struct code *c, struct pc_error *error)
{
    const struct places *places = c->places;
    int err = PC_OK;
    for (size_t i = 0; i < places->n; i = c->end) {
        const struct place *first = &places->list[i];
        pc_u128 mpi_ns = 0, cpu_ns = 0;
        for (c->first = c->end = i;
             c->end < places->n && places->list[c->end].module == first->module; c->end++) {
            mpi_ns += places->list[c->end].mpi_ns;
            cpu_ns += places->list[c->end].sampled.ns;
        }
        if ((!pct_annotate_has_enough(c->a, mpi_ns, cpu_ns) && !has_asked(c)) ||
            read_stored(c, first->module) || c->stored_only)
            continue;
        if (!is_there(c->a->data, first, error))
            err = err || !*error->text ? err : PC_EIO;
        else
            err = read_module(c, c->a->data->profile->modules[first->module].path, error);
    }
    return err;
}

/* Says why nothing was printed, and what can be asked for. */
static int refuse(const struct code *c, struct pc_error *error)
{
    const char *asked = c->a->function;
    char near[256] = "";
    if (!asked)
        return pc_error_set(error, PC_ENOENT,
                            "no function with samples or MPI calls has enough time");
    if (c->around) {
        struct pct_buf name = {0};
        pct_text_escape(&name, c->around, PCT_ESCAPE_CELL);
        pc_error_set(error, PC_ENOENT, "%s: inlined into %s: ask for --function '%s'", asked,
                     name.data, name.data);
        pct_buf_free(&name);
        return PC_ENOENT;
    }
    bool any = pct_annotate_nearest(c->a, near, sizeof near);
    return pc_error_set(error, PC_ENOENT, "%s: no such function with samples or MPI calls%s%s%s",
                        asked, any ? ": did you mean " : "", near, any ? "?" : "");
}

int pct_annotate_assembly(FILE *out, const struct pct_annotate *a, struct pc_error *error)
{
    struct places places = {0};
    struct code c = {.take = print_function, .out = out, .a = a, .places = &places};
    gather(&places, a->data);
    int err = read_modules(&c, error);
    if (!c.n_printed && !err)
        err = refuse(&c, error);
    pct_free(c.around);
    pct_free(c.list);
    pct_free(places.list);
    return err;
}

struct pct_instruction *pct_assembly_figures(const struct pct_data *d, size_t *n_out)
{
    const struct pct_annotate a = {.data = d};
    struct places places = {0};
    struct code c = {.take = note_figures, .stored_only = true, .a = &a, .places = &places};
    struct pc_error none = {""};
    gather(&places, d);
    read_modules(&c, &none);
    pct_free(c.list);
    pct_free(places.list);
    *n_out = c.n_figures;
    return c.figures;
}

/* ---- Storing ----------------------------------------------------------------------------------
 */

static int compare_kept(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->module != y->module ? (x->module < y->module ? -1 : 1)
                                  : (x->list[0].address > y->list[0].address) -
                                        (x->list[0].address < y->list[0].address);
}

/* Stores a function. A place is looked up by the address after its first byte, like a return
 * address. */
static void store_function(struct pct_store *s, struct pct_symbols *files, const struct pct_data *d,
                           const struct kept *k)
{
    const char *module = pct_stored_module(&d->profile->modules[k->module], d->pool);
    for (size_t i = 0; i < k->n; i++) {
        struct pct_place place = pct_symbols_find(files, k->module, k->list[i].address + 1);
        const struct pct_frame *f = place.n_frames ? &place.frames[place.n_frames - 1] : NULL;
        pct_store_row(
            s, (const struct pct_stored_cell[]){[MODULE] = {.text = module},
                                                [OFFSET] = {.number = k->list[i].address},
                                                [TEXT] = {.text = k->list[i].text},
                                                [FUNCTION] = {.text = k->name},
                                                [SOURCE] = {.text = f && f->line ? f->file : NULL},
                                                [LINE] = {.number = f && f->file ? f->line : 0}});
    }
}

int pct_assembly_store(const struct pct_data *d, struct pct_stores *all, struct pc_error *error)
{
    const struct pct_annotate a = {.data = d, .min_percent = PCT_LEAST_STORED_PERCENT};
    struct places places = {0};
    struct code c = {.take = keep_function, .a = &a, .places = &places};
    struct pc_error problem = {""};
    gather(&places, d);
    int err = read_modules(&c, &problem);
    if (!c.n_kept && err)
        err = pc_error_set(error, err, "%s", problem.text);
    else
        err = PC_OK;
    struct pct_store *s = pct_stores_add(all, TABLE, columns, N_KEYS, N_COLUMNS);
    struct pct_symbols *files = pct_symbols_new_files(d->profile);
    size_t n = 0;
    if (c.n_kept)
        qsort(c.kept, c.n_kept, sizeof *c.kept, compare_kept);
    for (size_t i = 0; i < c.n_kept; i++) {
        struct kept *k = &c.kept[i];
        if (n + k->n <= PCT_MOST_STORED_INSTRUCTIONS) {
            store_function(s, files, d, k);
            n += k->n;
        }
        for (size_t at = 0; at < k->n; at++)
            pct_free(k->list[at].text);
        pct_free(k->list);
        pct_free(k->name);
    }
    pct_symbols_free(files);
    pct_free(c.kept);
    pct_free(c.list);
    pct_free(places.list);
    return err;
}
