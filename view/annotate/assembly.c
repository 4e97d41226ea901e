/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machine code with figures beside its instructions. Functions are those of the report: their
 * bounds and names come from symbols or, of a function that no symbol names, from the tables for
 * exceptions. Those with little time are dropped; of the others the system's objdump prints the
 * instructions, from the first byte to the last. Its own names are not used: it gives the code of a
 * function without a name to the symbol before it, and a target to a symbol megabytes away. A
 * profile can store the instructions: the table
 * `instructions` has a row for each instruction of the functions with most time, with its source
 * line. If a module is in that table, its file is not read.
 *
 * A sample belongs to the instruction at its address. The time of an MPI call belongs to the
 * instruction before the address to which the call returned.
 */
#include "analysis/symbols/short_name.h"
#include "analysis/symbols/stored_table.h"
#include "analysis/tree/label.h"
#include "view/annotate/annotate.h"
#include "view/sentence.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Figures of one byte of a module: the first of an instruction that was sampled, or the last of a
 * call. */
struct place {
    uint32_t module;
    uint64_t at;
    struct pct_sampled sampled;
    pc_u128 mpi_ns, init_ns; /* init_ns: of mpi_ns, in MPI_Init */
};

struct places {
    struct place *list; /* sorted, each byte once */
    size_t n, room;
    pc_u128 all_ns;
};

struct instruction {
    uint64_t address;
    char *text;
    uint32_t row; /* of the table that it was read from */
};

struct function {
    uint32_t module;
    uint64_t lo, hi;
    const char *name;       /* as reports call it */
    uint32_t row, n_rows;   /* of the table that it is read from; n_rows 0: from the file */
    pc_u128 mpi_ns, cpu_ns; /* in it */
    pc_u128 init_ns;
    bool asked;
};

/* State of a pass; `take` is called for each function with a large enough part of the run, those
 * with most first. */
struct code {
    void (*take)(struct code *c, const struct function *f);
    bool stored_only; /* no file is read */
    FILE *out;
    const struct pct_annotate *a;
    const struct places *places;
    struct pct_symbols *files; /* for the bounds of functions */
    const struct pc_profile_table *stored;
    struct function *functions;
    size_t n_functions, functions_room;
    const char **shown;       /* names of the functions that are taken */
    const char *around;       /* name of a function into which the requested one is inlined */
    struct instruction *list; /* of the function that is taken */
    size_t n, room;
    size_t n_taken;
    struct pct_store *store;
    size_t n_stored;         /* instructions */
    size_t n_left_out, most; /* functions, and the instructions of the first of them */
    const char *left_out;
    struct pct_instruction *figures;
    size_t n_figures, figures_room;
};

enum { MODULE, OFFSET, TEXT, FUNCTION, SOURCE, LINE, N_COLUMNS, N_KEYS = TEXT };

static const struct pcollect_column columns[N_COLUMNS] = {
    [MODULE] = {"module", "build-id of the program or library, or its path without one",
                PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    [OFFSET] = {"offset", "address of the instruction in the module", PCOLLECT_COLUMN_NUMBER, 0,
                PCOLLECT_UNIT_COUNT, 0},
    [TEXT] = {"text", "the instruction, as objdump prints it", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX,
              PCOLLECT_UNIT_COUNT, 0},
    [FUNCTION] = {"function", "name of its function", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX,
                  PCOLLECT_UNIT_COUNT, 0},
    [SOURCE] = {"file", "its source file", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX,
                PCOLLECT_UNIT_COUNT, 0},
    [LINE] = {"line", "line in the file; 0: not known", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX,
              PCOLLECT_UNIT_COUNT, 0},
};
const struct pcollect_table pct_instructions_table = {
    .name = "instructions",
    .doc = "instructions of the functions with most time, stored by pcollect embed --assembly",
    .columns = columns,
    .n_keys = N_KEYS,
    .n_values = N_COLUMNS - N_KEYS};

/* ---- Figures by address ---------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void add_place(struct places *s, const struct pc_profile_node *n, struct place place)
{
    bool returns = n->kind == PCOLLECT_NODE_FRAME;
    if (n->module == PC_NO_INDEX || n->offset < returns)
        return;
    place.module = n->module;
    place.at = n->offset - returns;
    s->list = pct_grow(s->list, s->n, &s->room, sizeof *s->list);
    s->list[s->n++] = place;
}

static struct place place_of_call(const struct pct_data *d, uint32_t node)
{
    const struct pc_profile *p = d->profile;
    pc_u128 ns = pct_totals_exclusive(d->totals, node);
    uint32_t op = p->nodes[pct_totals_call(p, node)].op;
    bool init = op < p->n_ops && pct_totals_is_init(&p->ops[op]);
    return (struct place){.mpi_ns = ns, .init_ns = init ? ns : 0};
}

static void add_figures(struct place *to, const struct place *what)
{
    pct_sampled_add(&to->sampled, what->sampled);
    to->mpi_ns += what->mpi_ns;
    to->init_ns += what->init_ns;
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
        else if (pct_totals_exclusive(d->totals, i) && p->nodes[caller].kind == PCOLLECT_NODE_FRAME)
            add_place(s, &p->nodes[caller], place_of_call(d, i));
    }
    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, compare_places);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (n && !compare_places(&s->list[n - 1], &s->list[i]))
            add_figures(&s->list[n - 1], &s->list[i]);
        else
            s->list[n++] = s->list[i];
    }
    s->n = n;
}

/* The first place of the module that is not below `lo`, or of a later module. */
static size_t first_place(const struct places *s, uint32_t module, uint64_t lo)
{
    const struct place wanted = {.module = module, .at = lo};
    size_t from = 0, to = s->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_places(&s->list[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* True if there is an i-th place, and it is before `hi` in the module. */
static bool is_before(const struct places *s, size_t i, uint32_t module, uint64_t hi)
{
    return i < s->n && s->list[i].module == module && s->list[i].at < hi;
}

/* Sums over places of the module in [lo, hi). */
static struct place sum_between(const struct places *s, uint32_t module, uint64_t lo, uint64_t hi)
{
    struct place sum = {0};
    for (size_t i = first_place(s, module, lo); is_before(s, i, module, hi); i++)
        add_figures(&sum, &s->list[i]);
    return sum;
}

/* Figures of the i-th instruction of the function. */
static struct place figures_of(const struct code *c, const struct function *f, size_t i)
{
    uint64_t end = i + 1 < c->n ? c->list[i + 1].address : f->hi;
    return sum_between(c->places, f->module, c->list[i].address, end);
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* The frames at a place: the function that the machine runs, then what is inlined there. */
static struct pct_place frames_at(const struct code *c, const struct place *s)
{
    return pct_symbols_find(c->a->data->symbols, s->module, s->at + 1);
}

/* The name of the function at a place in reports. One without a name is called by its begin, which
 * is `lo` if the symbols do not know it. */
static const char *name_at(const struct code *c, const struct place *s, uint64_t lo)
{
    const struct pct_data *d = c->a->data;
    const struct pct_frame *f = &frames_at(c, s).frames[0];
    struct pct_buf label = {0};
    if (f->function)
        return pct_pool_intern(d->pool, f->function);
    pct_label_nameless(&label, pc_base_name(d->profile->modules[s->module].path), f, lo, 0);
    const char *name = pct_pool_intern(d->pool, label.data);
    pct_buf_free(&label);
    return name;
}

/* True if a function that is asked for is inlined at the place. */
static bool has_inlined(const struct code *c, const struct place *s)
{
    struct pct_place place = frames_at(c, s);
    for (uint32_t k = 1; c->a->function && k < place.n_frames; k++)
        if (place.frames[k].function && pct_name_means(place.frames[k].function, c->a->function))
            return true;
    return false;
}

/* Adds the i-th place to the function, the last of the list. */
static void add_to_function(struct code *c, struct function *f, size_t i)
{
    const struct place *s = &c->places->list[i];
    f->mpi_ns += s->mpi_ns;
    f->cpu_ns += s->sampled.ns;
    f->init_ns += s->init_ns;
    if (!f->asked && has_inlined(c, s))
        c->around = f->name;
}

static struct function *new_function(struct code *c, struct function f)
{
    f.asked = !c->a->function || pct_name_means(f.name, c->a->function);
    c->functions = pct_grow(c->functions, c->n_functions, &c->functions_room, sizeof *c->functions);
    c->functions[c->n_functions] = f;
    return &c->functions[c->n_functions++];
}

/* Adds the functions in which the places from `first` to before `end` are, which are one module's.
 * Symbols may overlap: then a function begins where the one before it ends. */
static void add_functions(struct code *c, size_t first, size_t end)
{
    struct function *f = NULL;
    for (size_t i = first; i < end; i++) {
        const struct place *s = &c->places->list[i];
        uint64_t lo, hi;
        if (!f || s->at >= f->hi) {
            if (!pct_symbols_bounds(c->files, s->module, s->at + 1, &lo, &hi))
                continue;
            lo = f && f->hi > lo ? f->hi : lo;
            f = new_function(
                c, (struct function){
                       .module = s->module, .lo = lo, .hi = hi, .name = name_at(c, s, lo)});
        }
        add_to_function(c, f, i);
    }
}

static const uint64_t *stored_row(const struct code *c, uint32_t i)
{
    return c->stored->cells + (size_t)i * N_COLUMNS;
}

/* Adds a function that is stored in the rows from f.row on. Of its last instruction the end is not
 * stored: it reaches to the return address of the function's last call, if the function ends in
 * one. */
static void add_stored_function(struct code *c, struct function f)
{
    enum { LONGEST = 16 };
    const struct places *s = c->places;
    uint64_t last = stored_row(c, f.row + f.n_rows - 1)[OFFSET];
    size_t first = first_place(s, f.module, f.lo), i = first;
    f.hi = last + 1;
    if (is_before(s, first, f.module, f.hi))
        f.name = name_at(c, &s->list[first], f.lo);
    for (; is_before(s, i, f.module, last + LONGEST); i++)
        if (s->list[i].mpi_ns && !strcmp(name_at(c, &s->list[i], f.lo), f.name))
            f.hi = s->list[i].at >= f.hi ? s->list[i].at + 1 : f.hi;
    struct function *kept = is_before(s, first, f.module, f.hi) ? new_function(c, f) : NULL;
    for (i = first; kept && is_before(s, i, f.module, f.hi); i++)
        add_to_function(c, kept, i);
}

/* False: the profile has no instructions of the module. */
static bool add_stored(struct code *c, uint32_t module)
{
    const struct pct_data *d = c->a->data;
    const struct pc_profile *p = d->profile;
    const char *name = pct_stored_module(&p->modules[module], d->pool);
    struct function f = {.n_rows = 0};
    bool any = false;
    for (uint32_t i = 0; c->stored && i < c->stored->n_rows; i++) {
        const uint64_t *row = stored_row(c, i);
        if (!row[TEXT] || !row[FUNCTION] || strcmp(pc_profile_string(p, row[MODULE]), name) != 0)
            continue;
        if (!f.n_rows || row[FUNCTION] != stored_row(c, f.row)[FUNCTION] || i != f.row + f.n_rows) {
            if (f.n_rows)
                add_stored_function(c, f);
            f = (struct function){.module = module,
                                  .lo = row[OFFSET],
                                  .row = i,
                                  .name = pc_profile_string(p, row[FUNCTION])};
        }
        f.n_rows++;
        any = true;
    }
    if (f.n_rows)
        add_stored_function(c, f);
    return any;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void clear_instructions(struct code *c)
{
    for (size_t i = 0; i < c->n; i++)
        pct_free(c->list[i].text);
    c->n = 0;
}

static void add_instruction(struct code *c, uint64_t address, const char *text, uint32_t row)
{
    c->list = pct_grow(c->list, c->n, &c->room, sizeof *c->list);
    c->list[c->n++] = (struct instruction){address, pct_copy(text), row};
}

/* True for a name with an offset: the nearest symbol before an address, however far away it is. */
static bool is_near_symbol(const char *name)
{
    const char *last = strrchr(name, '+');
    char *end = NULL;
    if (last)
        strtoull(last + 1, &end, 16);
    return last && last[1] && !*end;
}

/* The function in which the address is, if it has a name and is another one than f. */
static const char *other_function(const struct code *c, const struct function *f, uint64_t address)
{
    if (address >= f->lo && address < f->hi)
        return NULL;
    return pct_symbols_find(c->files, f->module, address + 1).frames[0].function;
}

/* Names the target of a jump, which is in angle brackets at the end of the line, as nothing else.
 */
static void name_target(const struct code *c, const struct function *f, struct pct_buf *text)
{
    char *begin = text->n ? strchr(text->data, '<') : NULL;
    if (!begin || begin - text->data < 2 || begin[-1] != ' ' || text->data[text->n - 1] != '>')
        return;
    const char *digits = begin - 1;
    while (digits > text->data && strchr("0123456789abcdef", digits[-1]))
        digits--;
    text->data[text->n - 1] = '\0';
    const char *name =
        is_near_symbol(begin + 1) ? other_function(c, f, strtoull(digits, NULL, 16)) : begin + 1;
    struct pct_buf shorter = {0};
    if (name)
        pct_short_name(&shorter, name);
    char *version = shorter.n ? strstr(shorter.data, "@@") : NULL;
    if (version)
        *version = '\0';
    text->n = (size_t)(begin - 1 - text->data);
    text->data[text->n] = '\0';
    if (shorter.n)
        pct_buf_format(text, " <%s>", shorter.data);
    pct_buf_free(&shorter);
}

/* Takes "    1139:\tpush   %rbp"; other lines are no instructions. */
static void take_line(struct code *c, const struct function *f, char *line)
{
    char *end;
    uint64_t address = strtoull(line, &end, 16);
    line[strcspn(line, "\n")] = '\0';
    if (end == line || strncmp(end, ":\t", 2) != 0)
        return;
    struct pct_buf plain = {0};
    for (const char *s = end + 2; *s; s++)
        pct_buf_put(&plain, *s == '\t' ? " " : s, 1);
    name_target(c, f, &plain);
    add_instruction(c, address, plain.n ? plain.data : "", 0);
    pct_buf_free(&plain);
}

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

static int read_file(struct code *c, const struct function *f, struct pc_error *error)
{
    const char *path = c->a->data->profile->modules[f->module].path;
    char *line = NULL;
    size_t room = 0;
    pid_t pid;
    int status = 0;
    FILE *in = start_objdump(path, f->lo, f->hi, &pid);
    if (!in)
        return pc_error_set(error, PC_EIO, "objdump: %s; it is part of the package binutils",
                            strerror(errno));
    while (getline(&line, &room, in) > 0)
        take_line(c, f, line);
    free(line);
    fclose(in);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status)
        return pc_error_set(error, PC_EIO, "%s: objdump cannot disassemble it", path);
    return PC_OK;
}

static int read_instructions(struct code *c, const struct function *f, struct pc_error *error)
{
    const struct pc_profile *p = c->a->data->profile;
    clear_instructions(c);
    if (!f->n_rows)
        return read_file(c, f, error);
    for (uint32_t i = f->row; i < f->row + f->n_rows; i++)
        add_instruction(c, stored_row(c, i)[OFFSET], pc_profile_string(p, stored_row(c, i)[TEXT]),
                        i);
    return PC_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* True if the file is there and has not changed; finds this out by looking up one of its
 * addresses. */
static bool is_there(const struct code *c, const struct place *place, struct pc_error *error)
{
    pct_symbols_find(c->files, place->module, place->at + 1);
    enum pct_symbols_state state = pct_symbols_state(c->files, place->module);
    const char *complaint = pct_symbols_complaint(c->files, place->module);
    if (state == PCT_SYMBOLS_LINES || state == PCT_SYMBOLS_FUNCTIONS || state == PCT_SYMBOLS_NONE)
        return true;
    if (state == PCT_SYMBOLS_OFF)
        complaint = "built without libdw: it is not known where functions begin";
    if (complaint)
        pc_error_set(error, PC_EIO, "%s", complaint);
    return false;
}

/* True if one of the places is in the function that is asked for. */
static bool has_asked(const struct code *c, size_t first, size_t end)
{
    for (size_t i = first; c->a->function && i < end; i++) {
        const struct place *s = &c->places->list[i];
        if (has_inlined(c, s) || pct_name_means(name_at(c, s, s->at + 1), c->a->function))
            return true;
    }
    return false;
}

static int compare_functions(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    pc_u128 one = x->mpi_ns + x->cpu_ns, other = y->mpi_ns + y->cpu_ns;
    if (one != other)
        return one < other ? 1 : -1;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Adds the functions of each module with a large enough part of the run, or with the function that
 * is asked for. Keeps the last error that has a text. */
static int find_functions(struct code *c, struct pc_error *error)
{
    const struct places *s = c->places;
    int err = PC_OK;
    for (size_t first = 0, end; first < s->n; first = end) {
        uint32_t module = s->list[first].module;
        pc_u128 mpi_ns = 0, cpu_ns = 0;
        for (end = first; end < s->n && s->list[end].module == module; end++) {
            mpi_ns += s->list[end].mpi_ns;
            cpu_ns += s->list[end].sampled.ns;
        }
        if ((!pct_annotate_has_enough(c->a, mpi_ns, cpu_ns) && !has_asked(c, first, end)) ||
            add_stored(c, module) || c->stored_only)
            continue;
        if (is_there(c, &s->list[first], error))
            add_functions(c, first, end);
        else
            err = err || !*error->text ? err : PC_EIO;
    }
    if (c->n_functions)
        qsort(c->functions, c->n_functions, sizeof *c->functions, compare_functions);
    return err;
}

/* True if a function is taken. One that only starts MPI costs the same in each run. */
static bool is_wanted(const struct code *c, const struct function *f)
{
    return f->asked &&
           (c->a->function || pct_annotate_has_enough(c->a, f->mpi_ns - f->init_ns, f->cpu_ns));
}

/* The names of the functions as reports show them, told apart from each other; the caller frees the
 * list. */
static const char **shown_names(const struct code *c)
{
    const char **names = pct_alloc(c->n_functions, sizeof *names);
    for (size_t i = 0; i < c->n_functions; i++)
        names[i] = is_wanted(c, &c->functions[i]) ? c->functions[i].name : NULL;
    const char **shown =
        pct_names_shown(names, c->n_functions, false, c->a->utf8, c->a->data->pool);
    pct_free(names);
    return shown;
}

/* Passes each function with a large enough part of the run, or that is asked for, to `take`. */
static int take_functions(struct code *c, struct pc_error *error)
{
    const struct pct_data *d = c->a->data;
    c->files = pct_symbols_new_files(d->profile);
    c->stored = pct_stored_find(d->profile, &pct_instructions_table);
    int err = find_functions(c, error);
    c->shown = shown_names(c);
    for (size_t i = 0; i < c->n_functions; i++) {
        const struct function *f = &c->functions[i];
        if (!is_wanted(c, f))
            continue;
        int failed = read_instructions(c, f, error);
        err = failed ? failed : err;
        if (failed || !c->n)
            continue;
        c->take(c, f);
        c->n_taken++;
    }
    clear_instructions(c);
    pct_free(c->list);
    pct_free(c->functions);
    pct_free(c->shown);
    pct_symbols_free(c->files);
    return err;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* Prints figures and a text behind them, within the width. */
static void put_row(const struct code *c, const struct place *s, const char *text)
{
    enum { LEAST = 20 }; /* cells of a text */
    const struct pct_annotate *a = c->a;
    char samples[PCT_NUMBER_BYTES], mpi[PCT_NUMBER_BYTES];
    struct pct_buf time = {0}, row = {0};
    pct_buf_put(&time, "", 0);
    if (s->sampled.samples)
        pct_sampled_text(&time, s->sampled, pct_data_samples(a->data)->whole, false);
    pct_buf_format(&row, "%9s %17s %9s  ",
                   s->sampled.samples ? pct_text_count(samples, s->sampled.samples) : "", time.data,
                   s->mpi_ns ? pct_text_time(mpi, s->mpi_ns) : "");
    size_t taken = pct_text_cells(row.data);
    if (a->width)
        pct_text_cut(&row, text, a->width > taken + LEAST ? a->width - taken : LEAST, a->utf8);
    else
        pct_buf_text(&row, text);
    fprintf(c->out, "%s\n", row.data);
    pct_buf_free(&time);
    pct_buf_free(&row);
}

static void print_instruction(const struct code *c, const struct function *f, size_t i)
{
    struct place one = figures_of(c, f, i);
    struct pct_buf text = {0};
    pct_buf_format(&text, "%6llx  ", (unsigned long long)c->list[i].address);
    pct_text_escape(&text, c->list[i].text, PCT_ESCAPE_CELL);
    put_row(c, &one, text.data);
    pct_buf_free(&text);
}

/* Prints one row for the instructions from `from` to before `end`, or that of the only one. */
static void print_gap(const struct code *c, const struct function *f, size_t from, size_t end)
{
    char count[PCT_NUMBER_BYTES], text[64];
    if (end - from == 1) {
        print_instruction(c, f, from);
    } else if (end > from) {
        uint64_t to = end < c->n ? c->list[end].address : f->hi;
        struct place sum = sum_between(c->places, f->module, c->list[from].address, to);
        pc_format(text, sizeof text, "   ...  %s instructions", pct_text_count(count, end - from));
        put_row(c, &sum, text);
    }
}

/* True if the instruction takes enough of the time of its function. */
static bool is_marked(const struct code *c, const struct function *f, size_t i)
{
    struct place one = figures_of(c, f, i);
    double ns = (double)(one.mpi_ns + one.sampled.ns);
    return ns > 0 && 100 * ns >= c->a->min_percent * (double)(f->mpi_ns + f->cpu_ns);
}

/* Prints the instructions around those with enough time; of a function that is asked for all. */
static void print_instructions(const struct code *c, const struct function *f)
{
    size_t around = c->a->around, n_shown = 0; /* n_shown: up to the last one printed */
    for (size_t i = 0; i < c->n; i++) {
        if (!c->a->function && !is_marked(c, f, i))
            continue;
        size_t from = i > n_shown + around ? i - around : n_shown;
        size_t end = i + around < c->n ? i + around + 1 : c->n;
        print_gap(c, f, n_shown, from);
        for (size_t k = from; k < end; k++)
            print_instruction(c, f, k);
        n_shown = end > n_shown ? end : n_shown;
    }
    print_gap(c, f, n_shown, c->n);
}

static void print_function(struct code *c, const struct function *f)
{
    const struct pct_data *d = c->a->data;
    char share[PCT_NUMBER_BYTES];
    struct pct_buf text = {0};
    pct_text_escape(&text, c->shown[f - c->functions], PCT_ESCAPE_CELL);
    pct_buf_text(&text, " in ");
    pct_text_escape(&text, pc_base_name(d->profile->modules[f->module].path), PCT_ESCAPE_CELL);
    fputc('\n', c->out);
    pct_print_sentence(
        c->out, c->a->width, 0, "%s: %s of the time in MPI and of sampled computation", text.data,
        pct_text_percent_1(share, pct_text_share(f->mpi_ns + f->cpu_ns, c->places->all_ns)));
    fprintf(c->out, "  samples              time    in MPI  instruction\n");
    print_instructions(c, f);
    pct_buf_free(&text);
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
        pc_error_set(error, PC_ENOENT, "--function %s: inlined into %s: ask for --function '%s'",
                     asked, name.data, name.data);
        pct_buf_free(&name);
        return PC_ENOENT;
    }
    bool any = pct_annotate_nearest(c->a, near, sizeof near);
    return pc_error_set(error, PC_ENOENT,
                        "--function %s: no such function with samples or MPI calls%s%s%s", asked,
                        any ? ": did you mean " : "; `pcollect report --by function` shows those",
                        near, any ? "?" : "");
}

int pct_annotate_assembly(FILE *out, const struct pct_annotate *a, struct pc_error *error)
{
    struct places places = {0};
    struct code c = {.take = print_function, .out = out, .a = a, .places = &places};
    gather(&places, a->data);
    int err = take_functions(&c, error);
    if (!c.n_taken && !err)
        err = refuse(&c, error);
    pct_free(places.list);
    return err;
}

/* ---- Figures of what is stored --------------------------------------------------------------- */

/* Notes the figures of each instruction of the function. */
static void note_figures(struct code *c, const struct function *f)
{
    for (size_t i = 0; i < c->n; i++) {
        struct place one = figures_of(c, f, i);
        if (!one.sampled.samples && !one.mpi_ns)
            continue;
        c->figures = pct_grow(c->figures, c->n_figures, &c->figures_room, sizeof *c->figures);
        c->figures[c->n_figures++] =
            (struct pct_instruction){c->list[i].row, one.sampled, one.mpi_ns};
    }
}

struct pct_instruction *pct_assembly_figures(const struct pct_data *d, size_t *n_out)
{
    const struct pct_annotate a = {.data = d};
    struct places places = {0};
    struct code c = {.take = note_figures, .stored_only = true, .a = &a, .places = &places};
    struct pc_error none = {""};
    gather(&places, d);
    take_functions(&c, &none);
    pct_free(places.list);
    *n_out = c.n_figures;
    return c.figures;
}

/* ---- Storing --------------------------------------------------------------------------------- */

/* Stores a function if it has room. A place is looked up by the address after its first byte, like
 * a return address. */
static void store_function(struct code *c, const struct function *f)
{
    const struct pct_data *d = c->a->data;
    const char *module = pct_stored_module(&d->profile->modules[f->module], d->pool);
    if (c->n_stored + c->n > PCT_MOST_STORED_INSTRUCTIONS) {
        c->left_out = c->left_out ? c->left_out : f->name;
        c->most = c->n_left_out++ ? c->most : c->n;
        return;
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct instruction *one = &c->list[i];
        struct pct_place place = pct_symbols_find(c->files, f->module, one->address + 1);
        const struct pct_frame *at = place.n_frames ? &place.frames[place.n_frames - 1] : NULL;
        pct_store_row(c->store, (const struct pct_stored_cell[]){
                                    [MODULE] = {.text = module},
                                    [OFFSET] = {.number = one->address},
                                    [TEXT] = {.text = one->text},
                                    [FUNCTION] = {.text = f->name},
                                    [SOURCE] = {.text = at && at->line ? at->file : NULL},
                                    [LINE] = {.number = at && at->file ? at->line : 0}});
    }
    c->n_stored += c->n;
}

int pct_assembly_store(const struct pct_data *d, struct pct_stores *all, struct pc_error *remark,
                       struct pc_error *error)
{
    const struct pct_annotate a = {.data = d, .min_percent = PCT_LEAST_STORED_PERCENT};
    struct places places = {0};
    struct code c = {.take = store_function,
                     .a = &a,
                     .places = &places,
                     .store = pct_stores_add(all, &pct_instructions_table)};
    struct pc_error problem = {""};
    char most[PCT_NUMBER_BYTES];
    gather(&places, d);
    int err = take_functions(&c, &problem);
    if (c.n_left_out && !*remark->text)
        pc_error_set(remark, PC_OK,
                     "the instructions of %zu %s are not stored, the first %s with %s: at most "
                     "20,000 are",
                     c.n_left_out, c.n_left_out == 1 ? "function" : "functions", c.left_out,
                     pct_text_count(most, c.most));
    else if (err && c.n_taken && !*remark->text)
        *remark = problem;
    pct_free(places.list);
    return !c.n_taken && err ? pc_error_set(error, err, "%s", problem.text) : PC_OK;
}
