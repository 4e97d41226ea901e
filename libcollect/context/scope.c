/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phases and regions (scope.h). Called by the thread that a scope belongs to, from outside of MPI
 * calls: with `busy` set while its state is inconsistent, so that handlers keep away. A region that
 * was met before, or is beyond the most that a thread has, costs a hash of its name and a swap; no
 * malloc, no lock, no system call.
 *
 * The table `regions` is booked here: how often each phase and region was entered, the time in it
 * and the part of that in MPI, inner regions included. Time is booked when a scope ends, and while
 * it is open when a sample is taken.
 *
 * Before the merge the thread in MPI_Finalize books the time of regions that other threads have
 * open, while these threads may begin and end regions. It leaves their stacks alone and books into
 * rows of its own. Invariant: the time of an open scope since `begin` is not in a row yet. The
 * thread that sets `begin` from there to 0 books it; each other finds 0 and books nothing. The
 * other members are read before that, and are written only while `begin` is 0, so that they belong
 * to it.
 *
 * The thread that switches collection off books what is open in all threads in the same way. Each
 * thread lets its scopes begin again when it next comes here while collection is on, from the
 * moment in which that was switched on. A known hole: a region of another thread that begins in the
 * moment of switching off may take the pause for its own, and a phase that another thread ends
 * while its own books it may go on; and one that does not come here before the merge has no time
 * after the pause.
 *
 * Another hole: what a thread had collected before a reset is dropped before the merge if it has
 * made no call since. What it books in that moment, at the end of a call, in a sample or for a
 * region, may be lost, or remain in part.
 */
#include "libcollect/context/scope.h"

#include "libcollect/context/copied_context.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>
#include <string.h>

/* Kind of a scope that stands for a context of another thread: for the frames of that context below
 * a phase or regions of this thread. Its key is that context. */
enum { LENT = PCOLLECT_NODE_FRAME };

enum { MAX_SCOPES = 1024, N_SLOTS = 2048, MAX_OPEN = 64, ROOTS = 64, NAME_BYTES = 1023 };
/* Scopes of lent contexts follow the others, in sets of WAYS places by their key. A new one takes a
 * free place of its set, or that of another. */
enum { N_LENT = 1024, WAYS = 4 };
/* So many scopes are replaced before the path cache, which has paths below them, forgets all. */
enum { MAX_REPLACED = 1024 };
enum { BOOKED_AFTER_NS = 100000000 };

struct scope {
    uint64_t key;
    uint64_t id;              /* hash of kinds and keys from the outermost scope to this one */
    pcollect_ref node, outer; /* outer: node of the scope around it */
    uint32_t kind;
    /* Part of the path cache, while the scope is not current. */
    struct pc_path_root *roots;
    uint32_t root_mask, n_roots;
    uint32_t clears; /* paths.clears when the roots were left */
};

struct open {
    uint64_t key;
    uint32_t scope;
    uint64_t mpi_ticks; /* of the thread at `begin` */
    /* Time from here on is not yet booked; 0: the scope is closed, or its time is taken. */
    _Atomic uint64_t begin;
};

/* A part of the time of an open scope, which the thread that has taken it books. */
struct stretch {
    uint32_t scope;
    uint64_t begin, end, mpi_ticks;
};

struct pc_scopes {
    uint32_t n, current;
    uint32_t base;     /* around the open regions: the phase, and the regions of the lent context */
    pcollect_ref lent; /* context that the thread works for; 0: none */
    uint32_t n_lent;   /* contexts that had no place so far */
    uint32_t n_replaced; /* scopes with roots, so far */
    uint32_t n_open;
    uint32_t n_deeper; /* open beyond MAX_OPEN */
    uint32_t breaks;   /* value of pc_control.breaks up to which open scopes have been resumed */
    struct open phase; /* booked by the thread that called MPI_Pcontrol */
    struct open open[MAX_OPEN];
    uint16_t slots[N_SLOTS]; /* scope by (outer, kind, key) */
    struct scope all[MAX_SCOPES + N_LENT];
};

static _Atomic(struct pc_thread *) threads;
static _Atomic(struct pc_thread *) phase_thread; /* has the time of the phase; NULL: none */

/* ---- The table `regions` -------------------------------------------------------------------- */

static void tell_plugins(const struct pcollect_region *region)
{
    for (uint32_t i = 0; i < pc_process.n_plugins; i++) {
        const struct pc_loaded_plugin *p = &pc_process.plugins[i];
        if (p->comm->region)
            p->comm->region(p->state, region);
    }
}

/* Takes the time of an open scope up to now. False if there is none to take. */
static bool take(struct open *o, uint64_t now, struct stretch *out)
{
    uint64_t begin = atomic_load_explicit(&o->begin, memory_order_acquire);
    *out = (struct stretch){o->scope, begin, now, o->mpi_ticks};
    return begin && atomic_compare_exchange_strong(&o->begin, &begin, 0);
}

/* Lets the time of a scope begin. Release: who takes it sees the members that belong to it. */
static void let_begin(const struct pc_thread *t, struct open *o, uint64_t now)
{
    o->mpi_ticks = t->record->mpi_ticks;
    atomic_store_explicit(&o->begin, now, memory_order_release);
}

/* The row in the table of a scope of thread `t`, among those of thread `by`, which calls this. */
static uint64_t *row_of(const struct pc_thread *t, struct pc_thread *by, uint32_t scope)
{
    const uint64_t key = t->scopes->all[scope].node;
    return pc_table_row(by, &pc_table_regions, &key);
}

static void count_entry(struct pc_thread *t, const struct open *o)
{
    uint64_t *v = row_of(t, t, o->scope);
    if (v)
        v[PC_REGION_ENTERED]++;
}

/* Books a stretch of thread `t`; called by thread `by`. */
static void book(const struct pc_thread *t, struct pc_thread *by, const struct stretch *x)
{
    const struct scope *scope = &t->scopes->all[x->scope];
    uint64_t *v = row_of(t, by, x->scope);
    uint64_t mpi_ticks = t->record->mpi_ticks;
    uint64_t ticks = x->end > x->begin ? x->end - x->begin : 0; /* it may begin while it is taken */
    if (v) {
        v[PC_REGION_TIME] += ticks;
        v[PC_REGION_IN_MPI] += mpi_ticks > x->mpi_ticks ? mpi_ticks - x->mpi_ticks : 0;
    }
    if (pc_process.tells_regions && ticks)
        tell_plugins(&(struct pcollect_region){.size = sizeof(struct pcollect_region),
                                               .node = scope->node,
                                               .id = scope->id,
                                               .begin = x->begin,
                                               .end = x->end,
                                               .thread = by});
}

/* Books the time of an open scope up to now; it goes on. */
static void book_time(struct pc_thread *t, struct open *o, uint64_t now)
{
    struct stretch x;
    if (!take(o, now, &x))
        return;
    book(t, t, &x);
    let_begin(t, o, now);
}

/* Books the rest of the time of a scope that ends. False if there is none. */
static bool book_rest(struct pc_thread *t, struct pc_thread *by, struct open *o, uint64_t now)
{
    struct stretch x;
    bool taken = take(o, now, &x);
    if (taken)
        book(t, by, &x);
    return taken;
}

void pc_scope_book(struct pc_thread *t, uint64_t now)
{
    struct pc_scopes *s = t->scopes;
    if (!s || t->stage != PC_STAGE_MAIN)
        return;
    uint64_t least =
        (uint64_t)(((unsigned __int128)BOOKED_AFTER_NS << 32) / pc_process.host.ns_per_tick_q32);
    if (s->phase.scope && now > s->phase.begin + least)
        book_time(t, &s->phase, now);
    for (uint32_t i = 0; i < s->n_open; i++)
        if (now > s->open[i].begin + least)
            book_time(t, &s->open[i], now);
}

/* Books the time of what is open in thread `t`, because collection has been switched off. A thread
 * that has to forget its time is left to do that. */
static void suspend(struct pc_thread *t, struct pc_thread *by)
{
    struct pc_scopes *s = __atomic_load_n(&t->scopes, __ATOMIC_ACQUIRE);
    if (!s || t->stage != PC_STAGE_MAIN || t->resets != atomic_load(&pc_control.resets))
        return;
    if (s->phase.scope)
        book_rest(t, by, &s->phase, pc_control.off_since);
    for (uint32_t i = 0; i < MAX_OPEN; i++)
        book_rest(t, by, &s->open[i], pc_control.off_since);
}

/* Lets the scopes of the calling thread go on, if collection has been switched on again. */
static void resume(struct pc_thread *t)
{
    struct pc_scopes *s = t->scopes;
    uint32_t breaks = atomic_load(&pc_control.breaks);
    if (!s || s->breaks == breaks || pc_scope_is_off() || t->stage != PC_STAGE_MAIN)
        return;
    s->breaks = breaks;
    if (atomic_load(&phase_thread) == t && !s->phase.begin)
        let_begin(t, &s->phase, pc_control.on_since);
    for (uint32_t i = 0; i < s->n_open; i++)
        if (!s->open[i].begin)
            let_begin(t, &s->open[i], pc_control.on_since);
}

/* ---- Scopes --------------------------------------------------------------------------------- */

static struct pc_scopes *get_scopes(struct pc_thread *t)
{
    if (t->scopes)
        return t->scopes;
    struct pc_scopes *s = pc_memory(sizeof *s);
    if (!s)
        return NULL;
    pc_table_add("regions", &pc_table_regions);
    s->n = 1;
    s->all[0].node = t->record->root;
    s->breaks = atomic_load(&pc_control.breaks);
    __atomic_store_n(&t->scopes, s, __ATOMIC_RELEASE); /* pc_scope_settle reads it */
    return s;
}

/* Roots of its own for a new scope, which are never given back. False: no memory. */
static bool get_roots(const struct pc_thread *t, struct scope *new)
{
    new->roots = pc_memory(ROOTS * sizeof *new->roots);
    new->root_mask = ROOTS - 1;
    new->clears = t->paths.clears;
    return new->roots != NULL;
}

/* The scope of that key in `parent`, made if it is new; `parent` where there is no room. */
static uint32_t find_scope(struct pc_thread *t, uint32_t parent, uint32_t kind, uint64_t key,
                           const char *name)
{
    struct pc_scopes *s = t->scopes;
    pcollect_ref outer = s->all[parent].node;
    uint32_t i = (uint32_t)pc_hash_u64(key + outer * 0x9e3779b97f4a7c15u + kind) % N_SLOTS;
    for (; s->slots[i]; i = (i + 1) % N_SLOTS) {
        const struct scope *at = &s->all[s->slots[i]];
        if (at->key == key && at->outer == outer && at->kind == kind)
            return s->slots[i];
    }
    struct scope new = {.key = key, .outer = outer, .kind = kind};
    new.id = pc_hash_u64(s->all[parent].id + pc_hash_u64(key + kind));
    if (s->n < MAX_SCOPES) {
        if (name)
            pc_arena_string(&pc_process.arena, name, strnlen(name, NAME_BYTES));
        new.node = pc_tree_part(t->tree, outer, kind, key);
    }
    if (!new.node || !get_roots(t, &new)) {
        pc_lost(PCOLLECT_LOST_REGIONS, 1);
        return parent;
    }
    s->all[s->n] = new;
    s->slots[i] = (uint16_t)s->n;
    return s->n++;
}

static void enter_scope(struct pc_thread *t, uint32_t to)
{
    struct pc_scopes *s = t->scopes;
    struct pc_paths *p = &t->paths;
    if (to == s->current)
        return;
    struct scope *from = &s->all[s->current], *next = &s->all[to];
    from->roots = p->roots;
    from->root_mask = p->root_mask;
    from->n_roots = p->n_roots;
    from->clears = p->clears;
    p->roots = next->roots;
    p->root_mask = next->root_mask;
    p->n_roots = next->n_roots;
    if (next->clears != p->clears) {
        memset(p->roots, 0, (p->root_mask + 1) * sizeof *p->roots);
        p->n_roots = 0;
    }
    p->n_last = 0; /* its contexts are those of another scope */
    pc_sampler_moved(t);
    t->scope = next->node;
    s->current = to;
}

/* The scope of the lent context's frames in the scope `outer`; that one where there is no room. */
static uint32_t find_lent(struct pc_thread *t, uint32_t outer)
{
    struct pc_scopes *s = t->scopes;
    const pcollect_ref context = s->lent, around = s->all[outer].node;
    uint64_t hash = pc_hash_u64(context + around * 0x9e3779b97f4a7c15u);
    uint32_t set = MAX_SCOPES + (uint32_t)hash % (N_LENT / WAYS) * WAYS;
    uint32_t i = set + s->n_lent % WAYS;
    for (uint32_t k = set; k < set + WAYS; k++) {
        if (s->all[k].key == context && s->all[k].outer == around)
            return k;
        i = s->all[k].key ? i : k;
    }
    s->n_lent++;
    struct scope *at = &s->all[i];
    if (s->current == i)
        enter_scope(t, 0);
    if (at->n_roots && ++s->n_replaced % MAX_REPLACED == 0)
        pc_paths_clear(&t->paths);
    at->key = 0;
    at->kind = LENT;
    at->node = pc_twin_context(t, context, around);
    if (!at->node || (!at->roots && !get_roots(t, at))) {
        pc_lost(PCOLLECT_LOST_LENT, 1);
        return outer;
    }
    at->key = context;
    at->outer = around;
    at->clears = t->paths.clears - 1; /* the roots are of the context that was here */
    return i;
}

/* The regions of a context of another thread as scopes in `phase`. */
static uint32_t find_regions(struct pc_thread *t, pcollect_ref context, uint32_t phase)
{
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, context);
    while (n->kind != PCOLLECT_NODE_REGION && n->parent)
        n = pc_arena_at(&pc_process.arena, n->parent);
    if (!n->parent)
        return phase;
    return find_scope(t, find_regions(t, n->parent, phase), n->kind, n->offset, NULL);
}

/* The scope around the thread's own regions, in the phase of its level. */
static uint32_t find_base(struct pc_thread *t)
{
    const struct pc_scopes *s = t->scopes;
    uint32_t phase = t->level ? find_scope(t, 0, PCOLLECT_NODE_PHASE, t->level, NULL) : 0;
    return s->lent ? find_regions(t, s->lent, phase) : phase;
}

/* The innermost phase or region. */
static uint32_t innermost(const struct pc_scopes *s)
{
    return s->n_open ? s->open[s->n_open - 1].scope : s->base;
}

/* Enters the innermost phase or region, and in it the frames of the lent context. */
static void enter_innermost(struct pc_thread *t)
{
    uint32_t at = innermost(t->scopes);
    enter_scope(t, t->scopes->lent ? find_lent(t, at) : at);
}

/* Moves the open regions into the phase of that level. */
static void move_to_phase(struct pc_thread *t, uint64_t level)
{
    struct pc_scopes *s = t->scopes;
    uint64_t now = pc_ticks();
    for (uint32_t i = 0; i < s->n_open; i++)
        book_rest(t, t, &s->open[i], now);
    t->level = level;
    s->base = find_base(t);
    uint32_t at = s->base;
    for (uint32_t i = 0; i < s->n_open; i++) {
        at = s->open[i].scope = find_scope(t, at, PCOLLECT_NODE_REGION, s->open[i].key, NULL);
        let_begin(t, &s->open[i], now);
    }
    enter_innermost(t);
}

/* ---- Threads -------------------------------------------------------------------------------- */

void pc_scope_made(struct pc_thread *t)
{
    t->resets = atomic_load(&pc_control.resets);
    t->next_made = atomic_load(&threads);
    while (!atomic_compare_exchange_weak(&threads, &t->next_made, t))
        ;
}

struct pc_thread *pc_scope_newest_thread(void)
{
    return atomic_load(&threads);
}

void pc_scope_start(struct pc_thread *t)
{
    struct pc_scopes *s = t->scopes;
    if (s) {
        if (s->all[0].node != t->record->root) { /* the thread has got another tree */
            memset(s->slots, 0, sizeof s->slots);
            memset(&s->all[MAX_SCOPES], 0, N_LENT * sizeof *s->all);
            s->n = 1;
            s->current = 0; /* its roots are those in use */
            s->all[0] = (struct scope){.node = t->record->root};
        }
        for (uint32_t i = 0; i < s->n_open; i++)
            s->open[i].begin = 0;
        s->n_open = s->n_deeper = s->base = s->lent = 0;
        t->level = 0;
        enter_scope(t, 0);
    }
    t->scope = t->record->root;
    t->left = 0;
}

/* Books the time of the regions that are still open, and counts them. Called by the thread `by`.
 * Changes nothing else: the stack of regions is changed by its owner alone. */
static void book_open_regions(struct pc_thread *t, struct pc_thread *by)
{
    struct pc_scopes *s = t->scopes;
    uint64_t now = pc_ticks(), n_left = 0;
    for (uint32_t i = 0; i < MAX_OPEN; i++)
        n_left += book_rest(t, by, &s->open[i], now);
    if (n_left)
        pc_lost(PCOLLECT_LOST_OPEN, n_left);
}

void pc_scope_leave(struct pc_thread *t)
{
    if (!t->scopes || t->stage != PC_STAGE_MAIN)
        return;
    resume(t);
    book_open_regions(t, t);
    t->scopes->n_open = t->scopes->n_deeper = 0;
}

/* ---- Forgetting what was collected ---------------------------------------------------------- */

static const struct pcollect_node *next_node(const struct pcollect_node *n,
                                             const struct pcollect_node *root)
{
    if (n->first_child)
        return pc_arena_at(&pc_process.arena, n->first_child);
    while (n != root && !n->next)
        n = pc_arena_at(&pc_process.arena, n->parent);
    return n == root ? NULL : pc_arena_at(&pc_process.arena, n->next);
}

static bool is_in_histogram(const struct pcollect_field *fields, uint32_t n, uint32_t at)
{
    for (uint32_t i = 0; i < n; i++)
        if (fields[i].combine == PCOLLECT_HIST && at >= fields[i].offset &&
            at - fields[i].offset < 8 * PCOLLECT_HIST_WORDS(fields[i].bins))
            return true;
    return false;
}

/* Sets a plugin's part of a record to 0, but for the room of its histograms: otherwise each of many
 * resets would take new room. */
static void forget_part(struct pc_thread *t, char *part, uint32_t bytes,
                        const struct pcollect_field *fields, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (fields[i].combine == PCOLLECT_HIST)
            pc_tree_clear_bins(t->tree, part + fields[i].offset, fields[i].bins);
    for (uint32_t at = 0; at < bytes; at += 8)
        if (!is_in_histogram(fields, n, at))
            *(uint64_t *)(part + at) = 0;
}

static void forget_record(struct pc_thread *t, const struct pcollect_node *n)
{
    char *record = pc_arena_at(&pc_process.arena, n->record);
    bool is_point = n->kind == PCOLLECT_NODE_POINT;
    for (uint32_t i = 0; i < pc_process.n_plugins && !is_point; i++) {
        const struct pcollect_comm_plugin *p = pc_process.plugins[i].comm;
        forget_part(t, record + pc_process.plugins[i].record_offset, p->record_bytes, p->fields,
                    p->n_fields);
    }
    char *compute = is_point ? record : record + pc_process.comm_bytes;
    for (uint32_t i = 0; i < pc_process.n_compute; i++) {
        const struct pcollect_compute_plugin *p = pc_process.compute[i].plugin;
        forget_part(t, compute + pc_process.compute[i].record_offset, p->record_bytes, p->fields,
                    p->n_fields);
    }
}

/* Lets the time of an open scope begin anew. The thread's MPI time has been set to 0. */
static void forget_time(const struct pc_thread *t, struct open *o)
{
    struct stretch x;
    uint64_t now = pc_ticks();
    if (take(o, now, &x))
        let_begin(t, o, now);
}

static void forget_tree(struct pc_thread *t)
{
    const struct pc_arena *a = &pc_process.arena;
    const struct pcollect_node *root = pc_arena_at(a, t->record->root);
    for (const struct pcollect_node *n = root; n; n = next_node(n, root))
        if (n->record)
            forget_record(t, n);
    for (pcollect_ref ref = t->record->rows; ref;) {
        struct pcollect_row *row = pc_arena_at(a, ref);
        const struct pcollect_table_rec *table = pc_arena_at(a, row->table);
        if (!(table->flags & PCOLLECT_TABLE_KEPT))
            memset(row->cells + table->n_keys, 0, table->n_values * sizeof *row->cells);
        ref = row->next;
    }
    t->record->mpi_ticks = t->record->mpi_calls = 0;
    struct pc_scopes *s = t->scopes;
    if (!s)
        return;
    forget_time(t, &s->phase);
    for (uint32_t i = 0; i < MAX_OPEN; i++)
        forget_time(t, &s->open[i]);
}

/* The thread itself and the one in MPI_Finalize may come here at once: one of them forgets. */
static void reset_thread(struct pc_thread *t)
{
    uint32_t resets = atomic_load_explicit(&pc_control.resets, memory_order_acquire);
    uint32_t applied = atomic_load(&t->resets);
    if (applied == resets || t->stage != PC_STAGE_MAIN ||
        !atomic_compare_exchange_strong(&t->resets, &applied, resets))
        return;
    forget_tree(t);
    if (t->sampler && t->sampler->source != PC_SOURCE_NONE)
        pc_sampler_describe(t->sampler);
}

void pc_scope_refresh(struct pc_thread *t)
{
    uint64_t level = atomic_load_explicit(&pc_control.level, memory_order_acquire);
    uint32_t busy = t->busy; /* set where a call has just ended */
    t->busy = 1;
    barrier();
    reset_thread(t);
    resume(t);
    if (t->stage == PC_STAGE_MAIN && t->level != level && get_scopes(t))
        move_to_phase(t, level);
    barrier();
    t->busy = busy;
}

static void lend(struct pc_thread *t, pcollect_ref context)
{
    struct pc_scopes *s = t->scopes;
    if (s->n_open + s->n_deeper)
        return;
    t->level = atomic_load_explicit(&pc_control.level, memory_order_acquire);
    t->left = context ? 0 : t->scope;
    s->lent = context;
    s->base = find_base(t);
    enter_innermost(t);
}

void pc_scope_lend(struct pc_thread *t, pcollect_ref context)
{
    if (t->busy || t->stage != PC_STAGE_MAIN || (!context && !t->scopes))
        return;
    int saved = errno;
    t->busy = 1;
    barrier();
    if (get_scopes(t))
        lend(t, context);
    barrier();
    t->busy = 0;
    errno = saved;
}

/* ---- MPI_Pcontrol --------------------------------------------------------------------------- */

/* Every thread comes to pc_thread_refresh at its next call. */
static void tell_threads(void)
{
    atomic_fetch_add(&pc_loadmap_generation, 1);
    atomic_fetch_add(&pc_control.bumps, 1);
}

/* `self`: the calling thread; NULL: it has no rows to book into. */
static void switch_off(struct pc_thread *self)
{
    if (pc_scope_is_off())
        return;
    pc_usage_leave();
    pc_control.off_since = pc_ticks();
    atomic_store(&pc_process.core.off_ticks, pc_control.off_since);
    __atomic_fetch_or(&pc_header()->flags, PCOLLECT_ARENA_OFF, __ATOMIC_RELEASE);
    pc_header()->notes |= PCOLLECT_NOTE_PAUSED;
    if (self)
        self->followed = 0; /* a call that was left in an earlier pause */
    atomic_store_explicit(&pc_control.off, 1, memory_order_release);
    atomic_fetch_add(&pc_control.breaks, 1);
    for (struct pc_thread *t = self ? atomic_load(&threads) : NULL; t; t = t->next_made)
        suspend(t, self);
    tell_threads();
}

static void switch_on(struct pc_thread *self)
{
    if (!pc_scope_is_off())
        return;
    pc_control.on_since = pc_ticks();
    pc_header()->unmeasured_ticks += pc_control.on_since - pc_control.off_since;
    __atomic_fetch_and(&pc_header()->flags, ~PCOLLECT_ARENA_OFF, __ATOMIC_RELEASE);
    pc_usage_return();
    atomic_store_explicit(&pc_control.off, 0, memory_order_release);
    atomic_fetch_add(&pc_control.breaks, 1);
    if (self)
        resume(self);
}

static void reset(void)
{
    struct pcollect_arena_header *h = pc_header();
    uint64_t now = pc_ticks();
    h->unmeasured_ticks = h->init_begin_ticks ? now - h->init_begin_ticks : 0;
    h->notes |= PCOLLECT_NOTE_PAUSED;
    pc_control.off_since = pc_control.on_since = now;
    atomic_store(&pc_process.core.reset_ticks, now);
    atomic_store(&pc_process.core.off_ticks, now);
    pc_usage_reset();
    atomic_fetch_add(&pc_control.resets, 1);
    atomic_fetch_add(&pc_control.breaks, 1);
    tell_threads();
}

enum { ASK_ON = 1, ASK_OFF = 2, ASK_RESET = 4 };

/* Makes the changes that are asked for, one after the other: of threads that ask at once, one makes
 * those of all, and none waits. Of on and off the later one counts. */
static void change(uint32_t what, struct pc_thread *self)
{
    if (what != ASK_RESET)
        atomic_fetch_and(&pc_control.asked, ASK_RESET);
    atomic_fetch_or(&pc_control.asked, what);
    while (atomic_load(&pc_control.asked) && !atomic_exchange(&pc_control.changing, true)) {
        uint32_t asked = atomic_exchange(&pc_control.asked, 0);
        if (asked & ASK_RESET)
            reset();
        if (asked & ASK_ON)
            switch_on(self);
        if (asked & ASK_OFF)
            switch_off(self);
        atomic_store(&pc_control.changing, false);
    }
}

/* Books the time of the phase that ends, and begins another. Runs in the thread that called
 * MPI_Pcontrol; of threads that begin a phase at once, one has its time. */
static void change_phase(struct pc_thread *t, uint64_t level)
{
    struct pc_scopes *s = get_scopes(t);
    bool begins = s && atomic_exchange(&pc_control.level, level) != level;
    uint64_t now = pc_ticks();
    if (s && (begins || t->level != level))
        move_to_phase(t, level);
    if (!begins)
        return;
    struct pc_thread *last = atomic_exchange(&phase_thread, s->base ? t : NULL);
    if (last)
        book_rest(last, t, &last->scopes->phase, now);
    if (s->base) {
        s->phase.scope = s->base;
        let_begin(t, &s->phase, now);
        count_entry(t, &s->phase);
    }
    if (atomic_load(&threads)->next_made)
        tell_threads();
}

void pc_scope_control(int level)
{
    struct pc_thread *t = pc_self;
    if (level < 0 || !pc_header() ||
        atomic_load_explicit(&pc_live->stage, memory_order_relaxed) != PC_STAGE_MAIN)
        return;
    int saved = errno;
    struct pc_thread *self = t && !t->busy && t->stage == PC_STAGE_MAIN ? t : NULL;
    if (self)
        self->busy = 1;
    barrier();
    if (level != 0 && level != 2 && self && (level > 2 || !pc_scope_is_off()))
        change_phase(self, level == 1 ? 0 : (uint64_t)level);
    change(level == 0 ? ASK_OFF : level == 2 ? ASK_RESET : ASK_ON, self);
    barrier();
    if (self)
        self->busy = 0;
    errno = saved;
}

/* `self` NULL: this thread could not be registered, and has no rows to book into. */
static void settle(struct pc_thread *t, struct pc_thread *self, uint64_t now)
{
    reset_thread(t);
    struct pc_scopes *s = __atomic_load_n(&t->scopes, __ATOMIC_ACQUIRE);
    if (!s || !self || t->stage != PC_STAGE_MAIN)
        return;
    if (t == self)
        resume(t);
    if (t == self)
        book_time(t, &s->phase, now);
    else
        book_rest(t, self, &s->phase, now);
    book_open_regions(t, self);
}

void pc_scope_settle(void)
{
    struct pc_thread *self = pc_self;
    uint32_t busy = self ? self->busy : 0;
    if (self)
        self->busy = 1;
    barrier();
    change(ASK_ON, self);
    uint64_t now = pc_ticks();
    for (struct pc_thread *t = atomic_load(&threads); t; t = t->next_made)
        settle(t, self, now);
    barrier();
    if (self)
        self->busy = busy;
}

/* ---- Regions -------------------------------------------------------------------------------- */

static uint64_t key_of(const char *name)
{
    return pc_hash_bytes(name, strnlen(name, NAME_BYTES), 0);
}

void pc_scope_begin(struct pc_thread *t, const char *name)
{
    struct pc_scopes *s = get_scopes(t);
    if (!s)
        return;
    resume(t);
    if (s->n_open == MAX_OPEN) {
        s->n_deeper++;
        pc_lost(PCOLLECT_LOST_REGIONS, 1);
        return;
    }
    struct open *o = &s->open[s->n_open];
    uint64_t now = pc_ticks(), key = key_of(name);
    o->key = key;
    o->scope = find_scope(t, innermost(s), PCOLLECT_NODE_REGION, key, name);
    s->n_open++;
    if (!pc_scope_is_off()) {
        let_begin(t, o, now);
        count_entry(t, o);
    }
    enter_innermost(t);
}

/* Ends a region together with the regions inside it that were never ended. */
void pc_scope_end(struct pc_thread *t, const char *name)
{
    struct pc_scopes *s = get_scopes(t);
    if (!s)
        return;
    resume(t);
    uint64_t now = pc_ticks(), key = name ? key_of(name) : 0;
    uint32_t at = s->n_open;
    if (s->n_deeper) {
        s->n_deeper--;
        return;
    }
    while (name && at && s->open[at - 1].key != key)
        at--;
    if (!at) {
        pc_lost(PCOLLECT_LOST_ENDS, 1);
        return;
    }
    if (s->n_open != at)
        pc_lost(PCOLLECT_LOST_OPEN, s->n_open - at);
    while (s->n_open >= at)
        book_rest(t, t, &s->open[--s->n_open], now);
    enter_innermost(t);
}
