/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cache of symbols: a hash table of addresses, and of calls with the function that they
 * reached; for each node of the profile its place, made at first use; for each module the state of
 * its file, which is opened for the first of its addresses.
 */
#include "config.h"

#include "analysis/hash_index.h"
#include "analysis/symbols/symbols_private.h"
#include "analysis/symbols/vdso.h"
#include "base/progress.h"
#include "format/contexts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct module {
    enum pct_symbols_state state;
    struct pct_dw *dw;       /* LINES, FUNCTIONS and NONE only */
    struct pct_tails *tails; /* of dw, when it is first asked for */
    const char *fault;       /* of the file, and its cure; or NULL */
    const char **others;     /* other paths of its file */
    size_t n_others, room;
    bool asked, named, lines;     /* some address: looked up; has a function; has a line */
    bool told;                    /* places are known without its file */
    bool reopened;                /* its file was looked for, although places are stored */
    enum pct_symbols_state found; /* by that */
    bool mapped;                  /* it is the vdso, which this process has, too */
    pc_u128 ns, named_ns;         /* of the computation that was added; in functions with names */
    pc_u128 share;                /* of the computation (pct_text_share), if it was weighed */
    pc_u128 named_share;          /* of that: in functions with names */
};

struct entry {
    struct pct_spot spot;
    struct pct_place place; /* frames NULL: not known yet */
    bool owned;             /* the frames */
    bool taught;
    bool open; /* stored, and the file may tell more */
};

struct pct_symbols {
    const struct pc_profile *profile;
    struct pct_pool *pool;
    struct module *modules;
    bool weighed;
    struct entry *entries;
    size_t n, room;
    struct pct_hash_index by_spot;
    uint32_t *nodes;            /* by node of the profile: its entry, or NOT_ASKED */
    struct pct_callee *callees; /* by MPI function; n 0: not asked for */
};

static const struct pct_frame unknown_frame;

/* The first entries: places that no address has. */
enum { NOT_ASKED, NO_FRAMES, UNKNOWN, FOLDED, MADE, N_FIXED };
static const struct entry fixed_entries[N_FIXED] = {
    [NO_FRAMES] = {.place = {&unknown_frame, 0}},
    [UNKNOWN] = {.place = {&unknown_frame, 1}},
    [FOLDED] = {.place = {&(const struct pct_frame){.function = "(contexts added up)"}, 1}},
    [MADE] = {.place = {&(const struct pct_frame){.function = PCT_MADE_CODE}, 1}},
};

void pct_symbols_free(struct pct_symbols *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->profile->n_modules; i++)
        pct_free(s->modules[i].others);
#ifdef HAVE_LIBDW
    for (uint32_t i = 0; i < s->profile->n_modules; i++) {
        pct_tails_free(s->modules[i].tails);
        pct_dw_close(s->modules[i].dw);
    }
#endif
    for (size_t i = 0; i < s->n; i++)
        if (s->entries[i].owned)
            pct_free((void *)s->entries[i].place.frames);
    pct_free(s->entries);
    pct_hash_free(&s->by_spot);
    pct_free(s->nodes);
    pct_free(s->callees);
    pct_free(s->modules);
    pct_pool_free(s->pool);
    pct_free(s);
}

/* ---- Modules --------------------------------------------------------------------------------- */

void pct_symbols_also_at(struct pct_symbols *s, uint32_t module, const char *path)
{
    struct module *m = &s->modules[module];
    m->others = pct_grow(m->others, m->n_others, &m->room, sizeof *m->others);
    m->others[m->n_others++] = pct_pool_intern(s->pool, path);
}

#ifdef HAVE_LIBDW
static void complain(const struct pct_symbols *s, uint32_t module, const char *why,
                     const char *cure)
{
    struct pct_buf b = {0};
    pct_text_escape(&b, s->profile->modules[module].path, PCT_ESCAPE_CELL);
    pct_buf_format(&b, ": %s%s%s", why, *cure ? "; " : "", cure);
    s->modules[module].fault = pct_pool_intern(s->pool, b.data);
    pct_buf_free(&b);
}

static void put_build_id(struct pct_buf *b, const uint8_t *id, size_t n)
{
    pct_buf_text(b, n ? "" : "none");
    pct_buf_bytes(b, id, n < 8 ? n : 8);
}

/* True if the file is the one that was run; a profile without build-id cannot tell. */
static bool is_same_file(struct pct_symbols *s, uint32_t module, struct pct_dw *dw)
{
    const struct pc_profile_module *m = &s->profile->modules[module];
    const uint8_t *id = NULL;
    size_t n = pct_dw_build_id(dw, &id);
    if (!m->build_id_bytes)
        return true;
    if (n >= m->build_id_bytes && !memcmp(id, m->build_id, m->build_id_bytes) &&
        (n == m->build_id_bytes || m->build_id_bytes == PCOLLECT_BUILD_ID_BYTES))
        return true;
    struct pct_buf b = {0};
    pct_buf_text(&b, "another file than the one that ran (build-id ");
    put_build_id(&b, id, n);
    pct_buf_text(&b, ", the profile has ");
    put_build_id(&b, m->build_id, m->build_id_bytes);
    pct_buf_text(&b, ")");
    complain(s, module, b.data, "put back the file that ran, to see its functions");
    pct_buf_free(&b);
    return false;
}

/* Opens a file as that of the module; NULL with the state that the module has then. */
static struct pct_dw *open_file(struct pct_symbols *s, uint32_t module, const char *path,
                                enum pct_symbols_state *state_out)
{
    struct pc_error error = {""};
    struct stat st;
    *state_out = PCT_SYMBOLS_UNREADABLE;
    if (stat(path, &st)) {
        bool gone = errno == ENOENT || errno == ENOTDIR;
        complain(s, module, strerror(errno), gone ? "put back the file to see its functions" : "");
        *state_out = gone ? PCT_SYMBOLS_GONE : PCT_SYMBOLS_UNREADABLE;
        return NULL;
    }
    struct pct_dw *dw = S_ISREG(st.st_mode) ? pct_dw_open(path, &error) : NULL;
    if (!dw) {
        complain(s, module, *error.text ? error.text : "not a regular file", "");
        return NULL;
    }
    if (is_same_file(s, module, dw)) {
        *state_out = pct_dw_state(dw);
        return dw;
    }
    *state_out = PCT_SYMBOLS_CHANGED;
    pct_dw_close(dw);
    return NULL;
}

/* Asks the servers for debug information, or for the file itself; takes the answer if it has
 * more. */
static struct pct_dw *ask_servers(struct pct_symbols *s, uint32_t module, struct pct_dw *had,
                                  enum pct_symbols_state *state)
{
    const struct pc_profile_module *m = &s->profile->modules[module];
    const char *before = s->modules[module].fault, *why = NULL;
    for (unsigned what = 0; what < PCT_N_FETCHES && m->build_id_bytes; what++) {
        enum pct_symbols_state found;
        const char *path =
            pct_fetch((enum pct_fetch)what, m->build_id, m->build_id_bytes, s->pool, &why);
        struct pct_dw *dw = path ? open_file(s, module, path, &found) : NULL;
        s->modules[module].fault = before;
        if (!dw)
            continue;
        if (!had || found < *state) {
            pct_dw_close(had);
            *state = found;
            s->modules[module].fault = NULL;
            return dw;
        }
        pct_dw_close(dw);
    }
    if (!had && why)
        complain(s, module, pct_symbols_state_text(*state), why);
    return had;
}

/* Complains of missing split files: lines are in the file itself, but inlined functions are not. */
static void complain_of_split(struct pct_symbols *s, uint32_t module, const struct pct_dw *dw)
{
    char why[160];
    struct stat st;
    struct pct_buf package = {0};
    pct_buf_format(&package, "%s.dwp", s->profile->modules[module].path);
    bool packed = !stat(package.data, &st);
    size_t n = dw ? pct_dw_missing(dw) : 0;
    pct_text_format(
        why, sizeof why, "no split debug information of %zu %s%s: inlined calls are not shown", n,
        n == 1 ? "source" : "sources", packed ? " (libdw here does not read the .dwp)" : "");
    if (n)
        complain(s, module, why, "keep the .dwo files where the compiler wrote them");
    pct_buf_free(&package);
}

/* Leaves the state and the complaint of the module's own path if no other path has its file. */
static struct pct_dw *open_other(struct pct_symbols *s, uint32_t module,
                                 enum pct_symbols_state *state)
{
    struct module *m = &s->modules[module];
    const char *before = m->fault;
    struct pct_dw *dw = NULL;
    for (size_t i = 0; i < m->n_others && !dw; i++) {
        enum pct_symbols_state found;
        dw = open_file(s, module, m->others[i], &found);
        *state = dw ? found : *state;
    }
    m->fault = dw ? NULL : before;
    return dw;
}

static enum pct_symbols_state open_module(struct pct_symbols *s, uint32_t module)
{
    const struct pc_profile_module *m = &s->profile->modules[module];
    enum pct_symbols_state state = PCT_SYMBOLS_GONE;
    if (m->path[0] != '/')
        return PCT_SYMBOLS_NO_FILE;
    /* Without a build-id, the file at the path would be taken, whatever it is. */
    bool at_path = m->build_id_bytes || !s->modules[module].n_others;
    struct pct_dw *dw = at_path ? open_file(s, module, m->path, &state) : NULL;
    if (!dw)
        dw = open_other(s, module, &state);
    if (!dw && !at_path)
        dw = open_file(s, module, m->path, &state);
    if (state != PCT_SYMBOLS_LINES && pct_symbols_may_ask_servers())
        dw = ask_servers(s, module, dw, &state);
    s->modules[module].dw = dw;
    if (state == PCT_SYMBOLS_LINES)
        complain_of_split(s, module, dw);
    return state;
}
#else
void pct_symbols_allow_servers(void)
{
}

bool pct_symbols_may_ask_servers(void)
{
    return false;
}

const char *pct_symbols_servers_problem(void)
{
    return NULL;
}

static enum pct_symbols_state open_module(struct pct_symbols *s, uint32_t module)
{
    (void)s;
    (void)module;
    return PCT_SYMBOLS_OFF;
}
#endif

enum pct_symbols_state pct_symbols_state(const struct pct_symbols *s, uint32_t module)
{
    return s->modules[module].state;
}

/* True for code of the linker, whose name is known of stripped files, too. */
static bool is_stub(const char *function)
{
    size_t n = strlen(function);
    return !strcmp(function, "[plt]") || !strcmp(function, ".plt") ||
           (n > 4 && !strcmp(function + n - 4, "@plt"));
}

static bool has_name(const struct pct_frame *f)
{
    return pct_frame_has_symbol(f) && !is_stub(f->function);
}

void pct_symbols_add_time(struct pct_symbols *s, uint32_t node, pc_u128 ns)
{
    uint32_t module = s->profile->nodes[node].module;
    if (!ns || module >= s->profile->n_modules)
        return;
    struct pct_place place = pct_symbols_node(s, node);
    struct module *m = &s->modules[module];
    m->ns += ns;
    if (place.n_frames && has_name(&place.frames[place.n_frames - 1]))
        m->named_ns += ns;
}

void pct_symbols_weigh(struct pct_symbols *s, pc_u128 all_ns)
{
    s->weighed = all_ns > 0;
    for (uint32_t i = 0; i < s->profile->n_modules; i++) {
        struct module *m = &s->modules[i];
        m->share = pct_text_share(m->ns, all_ns);
        m->named_share = pct_text_share(m->named_ns, m->ns);
    }
}

/* True if lines of the module would say where the program computes. Without samples this is
 * so of the program. */
static bool matters(const struct pct_symbols *s, uint32_t module)
{
    enum { LEAST_SHARE = 5000 }; /* 5 % */
    const struct pc_profile_module *m = &s->profile->modules[module];
    if (!s->weighed)
        return pct_symbols_is_program(m);
    if (m->flags & PCOLLECT_MODULE_EXE ? pct_origin_is_closed(m) : m->flags != 0)
        return false;
    return s->modules[module].share >= LEAST_SHARE;
}

enum pct_lack pct_symbols_lack(const struct pct_symbols *s, uint32_t module)
{
    const struct module *m = &s->modules[module];
    const struct pc_profile_module *of = &s->profile->modules[module];
    bool read = m->state == PCT_SYMBOLS_FUNCTIONS || m->state == PCT_SYMBOLS_NONE ||
                m->state == PCT_SYMBOLS_STORED;
    /* The user compiles neither code that a process has made nor the kernel's. */
    bool foreign = !strcmp(of->path, PCOLLECT_MODULE_JIT) || !strcmp(of->path, PCT_VDSO);
    /* Lines that are withheld are not missing. */
    bool whole = m->lines || (m->named && pct_origin_is_closed(of));
    if (m->fault || !read || !m->asked || whole || foreign || !matters(s, module))
        return PCT_LACKS_NOTHING;
    enum { HALF = 50000 };
    bool mostly = m->named && !(s->weighed && m->share && m->named_share < HALF);
    return mostly ? PCT_LACKS_LINES : PCT_LACKS_NAMES;
}

pc_u128 pct_symbols_named_share(const struct pct_symbols *s, uint32_t module)
{
    return s->weighed ? s->modules[module].named_share : 0;
}

bool pct_symbols_share(const struct pct_symbols *s, uint32_t module, pc_u128 *share_out)
{
    if (s->weighed)
        *share_out = s->modules[module].share;
    return s->weighed;
}

bool pct_symbols_is_elsewhere(const struct pct_symbols *s, uint32_t module)
{
    return s->modules[module].reopened && !s->modules[module].dw;
}

const char *pct_symbols_fault(const struct pct_symbols *s, uint32_t module)
{
    return s->modules[module].fault;
}

const struct pc_profile *pct_symbols_profile(const struct pct_symbols *s)
{
    return s->profile;
}

const char *pct_symbols_keep(const struct pct_symbols *s, const char *text)
{
    return pct_pool_intern(s->pool, text);
}

const char *pct_symbols_state_text(enum pct_symbols_state state)
{
    static const char *const texts[PCT_N_SYMBOLS_STATES] = {
        [PCT_SYMBOLS_UNUSED] = "unused",
        [PCT_SYMBOLS_LINES] = "lines",
        [PCT_SYMBOLS_FUNCTIONS] = "functions",
        [PCT_SYMBOLS_NONE] = "stripped",
        [PCT_SYMBOLS_GONE] = "gone",
        [PCT_SYMBOLS_CHANGED] = "changed",
        [PCT_SYMBOLS_UNREADABLE] = "unreadable",
        [PCT_SYMBOLS_NO_FILE] = "no file",
        [PCT_SYMBOLS_OFF] = "off",
        [PCT_SYMBOLS_STORED] = "stored",
    };
    return texts[state];
}

/* ---- Look-up --------------------------------------------------------------------------------- */

#ifdef HAVE_LIBDW
static struct pct_place look_up(struct pct_symbols *s, struct module *m, uint64_t offset)
{
    struct pct_frame found[PCT_MAX_INLINED];
    /* The call is before the address that it returns to, and may be the last instruction of its
     * function. */
    bool readable = m->dw && offset;
    size_t n = readable ? pct_dw_find(m->dw, offset - 1, s->pool, found, PCT_MAX_INLINED) : 0;
    if (!n && readable) {
        found[0] = (struct pct_frame){0};
        found[0].function = pct_dw_begin(m->dw, offset - 1, &found[0].begin);
        n = found[0].begin != 0;
    }
    if (!n)
        return fixed_entries[UNKNOWN].place;
    n = pct_origin_withhold(&s->profile->modules[m - s->modules], found, n);
    struct pct_frame *frames = pct_alloc(n, sizeof *frames);
    memcpy(frames, found, n * sizeof *frames);
    return (struct pct_place){frames, (uint32_t)n};
}

static bool find_bounds(struct module *m, uint64_t offset, uint64_t *lo_out, uint64_t *hi_out)
{
    return m->dw && offset &&
           (pct_dw_bounds(m->dw, offset - 1, lo_out, hi_out) ||
            pct_dw_unwind(m->dw, offset - 1, lo_out, hi_out));
}
#else
static bool find_bounds(struct module *m, uint64_t offset, uint64_t *lo_out, uint64_t *hi_out)
{
    (void)m, (void)offset, (void)lo_out, (void)hi_out;
    return false;
}

static struct pct_place look_up(struct pct_symbols *s, struct module *m, uint64_t offset)
{
    (void)s;
    (void)m;
    (void)offset;
    return fixed_entries[UNKNOWN].place;
}
#endif

static struct module *need_module(struct pct_symbols *s, uint32_t module)
{
    struct module *m = &s->modules[module];
    const struct pc_profile_module *of = &s->profile->modules[module];
    if (m->state == PCT_SYMBOLS_UNUSED) {
        m->mapped = !strcmp(of->path, PCT_VDSO) && pct_vdso_is(of->build_id, of->build_id_bytes);
        m->state = m->mapped ? PCT_SYMBOLS_FUNCTIONS : open_module(s, module);
    }
    return m;
}

bool pct_symbols_has_file(struct pct_symbols *s, uint32_t module)
{
    return *s->profile->modules[module].path == '/' && need_module(s, module)->dw;
}

bool pct_symbols_bounds(struct pct_symbols *s, uint32_t module, uint64_t offset, uint64_t *lo_out,
                        uint64_t *hi_out)
{
    return module < s->profile->n_modules &&
           find_bounds(need_module(s, module), offset, lo_out, hi_out);
}

static struct pct_place place_in_vdso(uint64_t offset)
{
    const char *name = offset ? pct_vdso_function(offset - 1) : NULL;
    if (!name)
        return fixed_entries[UNKNOWN].place;
    struct pct_frame *frame = pct_alloc(1, sizeof *frame);
    frame->function = name;
    return (struct pct_place){frame, 1};
}

static struct pct_place find_place(struct pct_symbols *s, uint32_t module, uint64_t offset)
{
    pc_progress_begin("reading symbols of", pc_base_name(s->profile->modules[module].path), 0, 0);
    struct module *m = need_module(s, module);
    struct pct_place place = m->mapped ? place_in_vdso(offset) : look_up(s, m, offset);
    pc_progress_end();
    return place;
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool is_same_spot(const struct pct_spot *a, const struct pct_spot *b)
{
    return a->offset == b->offset && a->module == b->module && a->callee == b->callee &&
           a->callee_module == b->callee_module;
}

static struct pct_spot spot_of_address(uint32_t module, uint64_t offset)
{
    return (struct pct_spot){.module = module, .offset = offset, .callee_module = PC_NO_INDEX};
}

static uint32_t hash_spot(struct pct_spot spot)
{
    uint64_t hash = pc_hash_u64(spot.offset ^ (uint64_t)spot.module << 48);
    if (spot.callee_module != PC_NO_INDEX)
        hash = pc_hash_u64(hash ^ spot.callee ^ (uint64_t)spot.callee_module << 48);
    return (uint32_t)hash;
}

/* The entry of a spot, without a place if it is new; all are valid until the next call. */
static struct entry *make_entry(struct pct_symbols *s, struct pct_spot spot)
{
    struct pct_hash_search search = {.hash = hash_spot(spot)};
    uint32_t i;
    while ((i = pct_hash_next(&s->by_spot, &search)) != PC_NO_INDEX)
        if (is_same_spot(&s->entries[i].spot, &spot))
            return &s->entries[i];
    s->entries = pct_grow(s->entries, s->n, &s->room, sizeof *s->entries);
    s->entries[s->n] = (struct entry){.spot = spot};
    pct_hash_add(&s->by_spot, search.hash, (uint32_t)s->n);
    return &s->entries[s->n++];
}

static void note_place(struct module *m, struct pct_place place)
{
    m->asked = true;
    for (uint32_t i = 0; i < place.n_frames; i++) {
        m->named |= has_name(&place.frames[i]);
        m->lines |= place.frames[i].line != 0;
    }
}

/* True if no place of the module can be known: then none is kept. */
static bool is_nameless(const struct module *m)
{
    return m->state != PCT_SYMBOLS_UNUSED && !m->dw && !m->told && !m->mapped;
}

/* ---- Stored places that lack something ------------------------------------------------------- */

/* Steps of what is known of a place. */
enum grade { GRADE_NOTHING, GRADE_BEGIN, GRADE_MAIN, GRADE_FUNCTION, GRADE_LINE };

static enum grade grade_place(struct pct_place place)
{
    if (place.frames[place.n_frames - 1].line)
        return GRADE_LINE;
    if (place.frames[0].function)
        return place.frames[0].begin ? GRADE_MAIN : GRADE_FUNCTION;
    return place.frames[0].begin ? GRADE_BEGIN : GRADE_NOTHING;
}

/* True if the file of a stored place may tell more. Another build has no place there. */
static bool is_open(const struct pc_profile_module *m, struct pct_place place)
{
    enum grade most = pct_origin_is_closed(m) ? GRADE_FUNCTION : GRADE_LINE;
    return m->path[0] == '/' && m->build_id_bytes && grade_place(place) < most;
}

/* Looks for the file of a module that has stored places, once. It is no fault if it is not here. */
static void reopen(struct pct_symbols *s, uint32_t module)
{
    struct module *m = &s->modules[module];
    if (m->reopened)
        return;
    m->reopened = true;
    pc_progress_begin("reading symbols of", pc_base_name(s->profile->modules[module].path), 0, 0);
    m->found = open_module(s, module);
    pc_progress_end();
    m->fault = NULL;
}

/* Looks up a stored place in the file, and takes what it finds if that is more. */
static void improve(struct pct_symbols *s, struct entry *e)
{
    struct module *m = &s->modules[e->spot.module];
    e->open = false;
    reopen(s, e->spot.module);
    if (!m->dw || (m->found != PCT_SYMBOLS_LINES && grade_place(e->place) == GRADE_FUNCTION))
        return;
    struct pct_place place = look_up(s, m, e->spot.offset);
    bool more = grade_place(place) > grade_place(e->place);
    const struct pct_frame *worse = more ? e->place.frames : place.frames;
    if (more) {
        e->place = place;
        m->state = m->found;
        note_place(m, place);
    }
    if (worse != &unknown_frame)
        pct_free((void *)worse);
}

static struct entry *find_entry(struct pct_symbols *s, uint32_t module, uint64_t offset)
{
    if (module == PC_NO_INDEX && offset == PC_NODE_FOLDED)
        return &s->entries[FOLDED];
    if (module >= s->profile->n_modules || is_nameless(&s->modules[module]))
        return &s->entries[UNKNOWN];
    struct entry *e = make_entry(s, spot_of_address(module, offset));
    if (e->open)
        improve(s, e);
    if (!e->place.frames) {
        e->place = find_place(s, module, offset);
        e->owned = e->place.frames != &unknown_frame;
        note_place(&s->modules[module], e->place);
    }
    return e;
}

struct pct_place pct_symbols_find(struct pct_symbols *s, uint32_t module, uint64_t offset)
{
    return find_entry(s, module, offset)->place;
}

/* ---- Nodes of the profile -------------------------------------------------------------------- */

static struct entry *find_callee(struct pct_symbols *s, struct pct_spot spot)
{
    return spot.callee_module == PCT_CALLEE_OP ? &s->entries[NO_FRAMES]
                                               : find_entry(s, spot.callee_module, spot.callee);
}

/* Stores for a call the frames that tail calls removed below it, followed by the place that it
 * reached. */
static void join_places(struct pct_symbols *s, struct pct_spot spot,
                        const struct pct_frame *removed, size_t n)
{
    struct pct_place place = find_callee(s, spot)->place;
    if (n) {
        struct pct_frame *frames = pct_alloc(n + place.n_frames, sizeof *frames);
        memcpy(frames, removed, n * sizeof *frames);
        memcpy(frames + n, place.frames, place.n_frames * sizeof *frames);
        place = (struct pct_place){frames, (uint32_t)n + place.n_frames};
    }
    *make_entry(s, spot) = (struct entry){.spot = spot, .place = place, .owned = n != 0};
}

#ifdef HAVE_LIBDW
/* The tail calls of a module; NULL: its file could not be read. */
static struct pct_tails *tails_of(struct pct_symbols *s, uint32_t module)
{
    struct module *m = &s->modules[module];
    if (!m->tails && m->dw)
        m->tails = pct_tails_new(m->dw, s->pool);
    return m->tails;
}

/* The names by which compilers call an MPI function. */
static const struct pct_callee *callee_of_op(struct pct_symbols *s, uint64_t op)
{
    static const char *const shapes[] = {"%s", "P%s", "%s_", "p%s_", "%s__", "%s", "%s_f08_"};
    const char *name = s->profile->ops[op].name;
    struct pct_buf small = {0}, b = {0};
    if (!s->callees)
        s->callees = pct_alloc(s->profile->n_ops, sizeof *s->callees);
    struct pct_callee *callee = &s->callees[op];
    for (const char *c = callee->n ? "" : name; *c; c++)
        pct_buf_format(&small, "%c", *c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    for (size_t i = 0; i < PC_ARRAY_LEN(shapes) && small.n; i++) {
        pct_buf_clear(&b);
        pct_buf_format(&b, shapes[i], i < 2 ? name : small.data);
        callee->id[callee->n++] = pct_pool_intern(s->pool, b.data);
    }
    pct_buf_free(&small);
    pct_buf_free(&b);
    return callee;
}

static void find_removed(struct pct_symbols *s, struct pct_spot spot)
{
    struct pct_frame removed[PCT_MAX_INLINED];
    struct pct_callee callee = {.n = 0};
    struct pct_tails *t = tails_of(s, spot.module), *there;
    if (t && spot.callee_module == PCT_CALLEE_OP)
        callee = *callee_of_op(s, spot.callee);
    else if (t && spot.callee && (there = tails_of(s, spot.callee_module)))
        callee = pct_tails_identify(there, spot.callee - 1);
    size_t n = callee.n ? pct_tails_find(t, spot.offset, &callee, removed, PCT_MAX_INLINED) : 0;
    join_places(s, spot, removed,
                pct_origin_withhold(&s->profile->modules[spot.module], removed, n));
}
#else
static void find_removed(struct pct_symbols *s, struct pct_spot spot)
{
    join_places(s, spot, NULL, 0);
}
#endif

static struct entry *find_node(struct pct_symbols *s, const struct pc_profile_node *n,
                               const struct pc_profile_node *up)
{
    bool op = n->kind == PCOLLECT_NODE_OP, point = n->kind == PCOLLECT_NODE_POINT;
    if (point && n->module == PC_NO_INDEX && !n->offset && !(n->flags & PCOLLECT_FLAG_COLLAPSED))
        return &s->entries[MADE];
    /* An instruction is looked up like a return address behind it. */
    uint64_t offset = n->offset + point;
    if (!up || up->kind != PCOLLECT_NODE_FRAME || up->module >= s->profile->n_modules ||
        (!op && n->module >= s->profile->n_modules))
        return op ? &s->entries[NO_FRAMES] : find_entry(s, n->module, offset);
    struct pct_spot spot = {.module = up->module,
                            .offset = up->offset,
                            .callee_module = op ? PCT_CALLEE_OP : n->module,
                            .callee = op ? n->op : offset};
    find_entry(s, spot.module, spot.offset);
    struct entry *callee = find_callee(s, spot); /* both files are open now */
    if (is_nameless(&s->modules[spot.module]))
        return callee;
    if (!make_entry(s, spot)->place.frames)
        find_removed(s, spot);
    return make_entry(s, spot);
}

struct pct_place pct_symbols_node_once(struct pct_symbols *s, const struct pc_profile_node *n,
                                       const struct pc_profile_node *up)
{
    return find_node(s, n, up)->place;
}

struct pct_place pct_symbols_node(struct pct_symbols *s, uint32_t node)
{
    if (!s->nodes)
        s->nodes = pct_alloc(s->profile->n_nodes, sizeof *s->nodes);
    if (s->nodes[node] != NOT_ASKED)
        return s->entries[s->nodes[node]].place;
    const struct entry *e =
        find_node(s, &s->profile->nodes[node], pc_profile_above(s->profile, node));
    s->nodes[node] = (uint32_t)(e - s->entries);
    return e->place;
}

void pct_symbols_look_up(struct pct_symbols *s, bool points)
{
    struct pc_contexts *c = pct_hold(pc_contexts_new(s->profile), pc_contexts_free);
    while (c && pc_contexts_next(c)) {
        const struct pc_profile_node *n = c->node;
        if (n->kind != PCOLLECT_NODE_FRAME && n->kind != PCOLLECT_NODE_OP &&
            !(points && n->kind == PCOLLECT_NODE_POINT))
            continue;
        if (s->profile->later_contexts)
            pct_symbols_node_once(s, n, pc_contexts_at(c, c->level - 1));
        else
            pct_symbols_node(s, c->i);
    }
    if (!c || pc_contexts_close(c))
        pct_memory_refuse();
    pct_end(c, pc_contexts_free);
}

/* ---- Stored ---------------------------------------------------------------------------------- */

void pct_symbols_each(const struct pct_symbols *s,
                      void (*take)(void *arg, struct pct_spot spot, struct pct_place place),
                      void *arg)
{
    for (size_t i = N_FIXED; i < s->n; i++) {
        const struct entry *e = &s->entries[i];
        if (!e->place.frames)
            continue;
        enum pct_symbols_state state = s->modules[e->spot.module].state;
        bool sure = e->taught || state == PCT_SYMBOLS_LINES || state == PCT_SYMBOLS_FUNCTIONS ||
                    state == PCT_SYMBOLS_NONE || state == PCT_SYMBOLS_STORED;
        bool call = e->spot.callee_module != PC_NO_INDEX;
        if (sure && (!call || (e->place.n_frames && e->place.frames[0].tail_call)))
            take(arg, e->spot, e->place);
    }
}

static void take_stored(struct pct_symbols *s, struct pct_spot spot, struct pct_place place)
{
    s->modules[spot.module].told = true;
    if (spot.callee_module != PC_NO_INDEX) {
        join_places(s, spot, place.frames, place.n_frames);
        pct_free((void *)place.frames);
        return;
    }
    struct entry *e = make_entry(s, spot);
    if (e->place.frames) {
        pct_free((void *)place.frames);
        return;
    }
    e->place = place;
    e->owned = true;
    e->open = is_open(&s->profile->modules[spot.module], place);
    s->modules[spot.module].state = PCT_SYMBOLS_STORED;
    note_place(&s->modules[spot.module], place);
}

struct pct_symbols *pct_symbols_new_files(const struct pc_profile *p)
{
    struct pct_symbols *s = pct_alloc(1, sizeof *s);
    s->profile = p;
    s->pool = pct_pool_new();
    s->modules = pct_alloc(p->n_modules, sizeof *s->modules);
    s->n = N_FIXED;
    s->entries = pct_grow(NULL, N_FIXED, &s->room, sizeof *s->entries);
    memcpy(s->entries, fixed_entries, sizeof fixed_entries);
    return s;
}

struct pct_symbols *pct_symbols_new(const struct pc_profile *p)
{
    struct pct_symbols *s = pct_symbols_new_files(p);
    pct_stored_load(s, p, s->pool, take_stored);
    return s;
}

void pct_symbols_teach(struct pct_symbols *s, uint32_t module, uint64_t offset,
                       struct pct_place place)
{
    struct pct_spot spot = spot_of_address(module, offset);
    s->modules[module].told = true;
    *make_entry(s, spot) = (struct entry){.spot = spot, .place = place, .taught = true};
}
