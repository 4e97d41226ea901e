/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matches the trees of several runs. Each run's tree is walked from its root; a node finds or makes
 * its counterpart below that of its parent.
 */
#include "analysis/compare/call_sites.h"
#include "analysis/compare/join_private.h"

#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"
#include "analysis/tree/samples.h"
#include "base/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMPUTE_LABEL "(computation)"

struct joiner {
    struct pct_join *join;
    const struct pct_tree *tree; /* of the run being added */
    const struct pct_run *source;
    size_t run;
    const char **labels;         /* key of each node of the tree */
    struct pct_call_site *sites; /* by node of the tree; NULL: the lines are in the labels */
};

/* ---- Runs -------------------------------------------------------------------------------------
 */

static const struct pc_profile_module *program_of(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_modules; i++) {
        if (p->modules[i].flags & PCOLLECT_MODULE_EXE)
            return &p->modules[i];
    }
    return NULL;
}

/* The time of the run on each rank is that of its longest rank. If the others lost more time
 * without a processor, they would have waited for that rank instead: in MPI calls up to the delay
 * of these, else for the computation of the rank that computes longest. */
static void add_waiting(struct pct_run *run, uint32_t n_ranks, double mpi_ns, double delayed_ns,
                        double unequal_ns)
{
    struct pct_run_own *own = &run->own;
    double missing_ns = fmax(0, own->time_ns * n_ranks - own->core_ns);
    double in_calls_ns = fmin(fmax(0, missing_ns - unequal_ns), delayed_ns);
    own->core_ns += missing_ns;
    own->instead_ns = missing_ns - in_calls_ns;
    own->mpi_part = mpi_ns > 0 ? (mpi_ns - delayed_ns + in_calls_ns) / mpi_ns : 1;
}

static void describe_own(struct pct_run *run, const struct pc_profile *p)
{
    struct pct_rank_times *t = pct_rank_times_new(p);
    struct pct_run_own *own = &run->own;
    struct pct_end end = pct_totals_end(p);
    double mpi_ns = -run->init_ns - end.own_ns, longest_ns = 0, unequal_ns = 0;
    run->end_ns = end.own_ns;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        const struct pc_profile_rank *r = &p->ranks[i];
        double inside_ns = (double)r->inside_ns - (double)r->merge_ns;
        longest_ns = fmax(longest_ns, inside_ns - t->list[i].all_delayed_ns);
        mpi_ns += inside_ns - t->list[i].wall_ns;
        own->compute_ns += t->list[i].own_ns;
        own->busiest_ns = fmax(own->busiest_ns, t->list[i].own_ns);
    }
    unequal_ns = own->busiest_ns * p->n_ranks - own->compute_ns;
    mpi_ns = fmax(0, mpi_ns);
    double delayed_ns = fmin(mpi_ns, fmax(0, t->all_delayed_ns - t->delayed_ns));
    own->core_ns = own->compute_ns + mpi_ns - delayed_ns;
    if (p->n_ranks)
        own->time_ns = fmax(longest_ns - (run->init_ns + run->end_ns) / p->n_ranks,
                            own->core_ns / (double)p->n_ranks);
    own->time_ns = fmax(own->time_ns, own->busiest_ns);
    double both_ns = run->init_ns + run->end_ns;
    double last_part = end.all_ns > 0 ? 1 - end.own_ns / end.all_ns : 1; /* of MPI_Finalize */
    double part = mpi_ns > 0 ? 1 - delayed_ns / mpi_ns : 1;
    run->undelayed = (struct pct_run_undelayed){
        own->time_ns + (p->n_ranks ? both_ns / p->n_ranks : 0), own->core_ns + both_ns, part,
        end.all_ns > 0 ? part * last_part + 1 - last_part : 1};
    add_waiting(run, p->n_ranks, mpi_ns, delayed_ns, unequal_ns);
    own->end_part = end.all_ns > 0 ? own->mpi_part * last_part : 1;
    pct_rank_times_free(t);
}

static void describe_run(struct pct_run *run, const char *path, const struct pc_profile *p)
{
    const struct pc_profile_module *program = program_of(p);
    *run = (struct pct_run){.path = path, .sampled = pct_samples_any(p)};
    run->program = pct_copy(p->exe);
    if (program)
        run->build = *program;
    run->build.path = NULL;
    run->delayed_ns = (double)pct_totals_delayed_ns(p);
    run->n_ranks = p->world_size ? p->world_size : p->n_ranks;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        const struct pc_profile_rank *r = &p->ranks[i];
        double inside = (double)r->inside_ns - (double)r->merge_ns;
        run->outside |= r->notes & PCOLLECT_NOTE_OUTSIDE;
        double compute = (double)pct_totals_compute_ns(r);
        run->core_ns += inside;
        run->compute_ns += compute;
        if (inside > run->time_ns)
            run->time_ns = inside;
        if (compute > run->busiest_ns)
            run->busiest_ns = compute;
    }
    run->init_ns = pct_totals_init_ns(p);
    describe_own(run, p);
}

void pct_run_adopt(struct pct_run *run, const char *path, const struct pc_profile *profile,
                   struct pct_symbols *symbols)
{
    describe_run(run, path, profile);
    run->profile = profile;
    run->totals = pct_totals_new(profile);
    run->symbols = symbols;
    run->samples = pct_samples_new(profile);
}

static int refuse_run(const char *path, int err, struct pc_error *error)
{
    return *error->text ? err : pc_error_set(error, err, "%s: %s", path, pc_err_text(err));
}

int pct_run_look(struct pct_run *run, const char *path, struct pc_error *error)
{
    struct pc_profile *profile = NULL;
    int err = pc_pcol_read_statistics(path, &profile, error);
    if (err)
        return refuse_run(path, err, error);
    describe_run(run, path, profile);
    pc_profile_free(profile);
    return PC_OK;
}

void pct_run_close(struct pct_run *run)
{
    pct_samples_free(run->samples);
    pct_symbols_free(run->symbols);
    pct_totals_free(run->totals);
    pct_free(run->program);
    *run = (struct pct_run){0};
}

bool pct_runs_same_build(const struct pct_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct pc_profile_module *first = &runs[0].build, *other = &runs[i].build;
        if (!first->build_id_bytes || first->build_id_bytes != other->build_id_bytes ||
            memcmp(first->build_id, other->build_id, first->build_id_bytes) != 0)
            return false;
    }
    return true;
}

bool pct_runs_builds_known(const struct pct_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!runs[i].build.build_id_bytes)
            return false;
    return true;
}

/* ---- Nodes ------------------------------------------------------------------------------------
 */

/* Key by which a node of a run is matched, among the children of its parent. */
struct key {
    uint16_t kind;
    const char *label;
    struct pct_call_site site;
};

static struct key key_of(const struct joiner *b, const struct pct_node *n)
{
    size_t i = (size_t)(n - b->tree->nodes);
    return (struct key){n->kind, b->labels[i],
                        b->sites ? b->sites[i] : (struct pct_call_site){0, 1}};
}

static uint32_t hash_key(uint32_t parent, const struct key *key)
{
    uint64_t above = pc_hash_u64((uint64_t)parent << 32 | key->site.number);
    return (uint32_t)pc_hash_u64(above ^ (uintptr_t)key->label ^ key->kind);
}

static bool has_key(const struct pct_join_node *n, uint32_t parent, const struct key *key)
{
    return n->parent == parent && n->kind == key->kind && n->label == key->label &&
           n->site.number == key->site.number;
}

static uint32_t find_child(const struct pct_join *j, uint32_t parent, const struct key *key)
{
    struct pct_hash_search search = {.hash = hash_key(parent, key)};
    uint32_t c;
    while ((c = pct_hash_next(&j->by_key, &search)) != PC_NO_INDEX)
        if (has_key(&j->nodes[c], parent, key))
            break;
    if (c != PC_NO_INDEX)
        j->nodes[c].uncertain |= j->nodes[c].site.n != key->site.n;
    return c;
}

static void make_room(struct pct_join *j, size_t room)
{
    struct pct_join_node *nodes = pct_alloc(room, sizeof *nodes);
    struct pct_cost *costs = pct_alloc(room * j->n_runs, sizeof *costs);
    if (j->n) {
        memcpy(nodes, j->nodes, j->n * sizeof *nodes);
        memcpy(costs, j->costs, j->n * j->n_runs * sizeof *costs);
    }
    pct_free(j->nodes);
    pct_free(j->costs);
    j->nodes = nodes;
    j->costs = costs;
    j->room = room;
}

static uint32_t add_node(struct pct_join *j, uint32_t parent, const struct key *key)
{
    if (j->n == j->room)
        make_room(j, 2 * j->room);
    j->nodes[j->n] = (struct pct_join_node){
        .parent = parent,
        .first_child = PC_NO_INDEX,
        .first_inlined = PC_NO_INDEX,
        .next = parent == PC_NO_INDEX ? PC_NO_INDEX : j->nodes[parent].first_child,
        .kind = key->kind,
        .site = key->site,
        .label = key->label};
    if (parent != PC_NO_INDEX)
        j->nodes[parent].first_child = (uint32_t)j->n;
    pct_hash_add(&j->by_key, hash_key(parent, key), (uint32_t)j->n);
    return (uint32_t)j->n++;
}

/* Keys by which nodes are matched. Calls of functions without a name keep the label: module and
 * offset. Computation outside of any function is one context of its module. */
static const char *label_of(const struct joiner *b, const struct pct_node *n)
{
    const struct pc_profile *p = b->source->profile;
    bool computes = n->kind == PCOLLECT_NODE_POINT;
    struct pct_buf text = {0};
    if (computes && !n->frame->function)
        pct_text_escape(&text,
                        n->module == PC_NO_INDEX
                            ? "unknown"
                            : pct_symbols_base_name(p->modules[n->module].path),
                        PCT_ESCAPE_NAME);
    else if ((n->kind != PCOLLECT_NODE_FRAME && !computes) || !n->frame->function ||
             b->join->by_line)
        return pct_pool_intern(b->join->pool, n->label);
    else
        pct_text_escape(&text, n->frame->function, PCT_ESCAPE_NAME);
    const char *label = pct_pool_intern(b->join->pool, text.data);
    pct_buf_free(&text);
    return label;
}

/* ---- Functions inlined in only some runs
 * ------------------------------------------------------- */

/* True if some child of the run's node is already a child of `at`. */
static bool has_known_child(const struct joiner *b, const struct pct_node *n, uint32_t at)
{
    for (uint32_t c = n->first_child; c != PC_NO_INDEX; c = b->tree->nodes[c].next) {
        struct key key = key_of(b, &b->tree->nodes[c]);
        if (find_child(b->join, at, &key) != PC_NO_INDEX)
            return true;
    }
    return false;
}

/* Finds a node below an inlined child of `at` that this run does not have. */
static uint32_t find_below_inlined(const struct joiner *b, uint32_t at, const struct key *key)
{
    const struct pct_join *j = b->join;
    uint32_t found = PC_NO_INDEX, c = b->run ? j->nodes[at].first_inlined : PC_NO_INDEX;
    for (; c != PC_NO_INDEX && found == PC_NO_INDEX; c = j->nodes[c].next_inlined)
        if (!pct_join_cost(j, c, b->run)->present)
            found = find_child(j, c, key);
    return found;
}

static uint32_t match_node(struct joiner *b, const struct pct_node *n, uint32_t at)
{
    struct key key = key_of(b, n);
    uint32_t found = find_child(b->join, at, &key);
    if (found == PC_NO_INDEX && !b->join->by_line) {
        bool frame = n->kind == PCOLLECT_NODE_FRAME;
        if (frame && n->frame->inlined && has_known_child(b, n, at))
            return at;
        found = find_below_inlined(b, at, &key);
    }
    return found != PC_NO_INDEX ? found : add_node(b->join, at, &key);
}

/* ---- One run ----------------------------------------------------------------------------------
 */

/* Rest of the time of a node. */
static double part_of(const struct joiner *b, const struct pct_node *n)
{
    if (b->join->times == PCT_JOIN_ALL || n->kind != PCOLLECT_NODE_OP)
        return 1;
    bool own = b->join->times == PCT_JOIN_OWN_BLAMED;
    const struct pc_profile_op *op = &b->source->profile->ops[n->op];
    const struct pct_run *run = b->source;
    if (pct_totals_is_init(op))
        return own ? 0 : 1;
    if (pct_totals_is_end(op))
        return own ? run->own.end_part : run->undelayed.end_part;
    return own ? run->own.mpi_part : run->undelayed.mpi_part;
}

/* Notes the place of the call, as long as there is only one. */
static void note_call(const struct joiner *b, struct pct_join_node *node, const struct pct_node *n)
{
    static const struct pct_frame nowhere;
    const struct pct_frame *from =
        n->parent == PC_NO_INDEX ? &nowhere : b->tree->nodes[n->parent].frame;
    const char *file =
        from->file ? pct_pool_intern(b->join->pool, pct_symbols_base_name(from->file)) : NULL;
    if (!node->told) {
        node->call_file = file;
        node->call_line = from->line;
    } else if (node->call_file != file || node->call_line != from->line) {
        node->call_line = 0;
    }
    node->told = true;
}

static void note_caller(const struct joiner *b, struct pct_join_node *node,
                        const struct pct_node *n)
{
    bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    if (!frame || n->module == PC_NO_INDEX)
        return;
    const char *path = b->source->profile->modules[n->module].path;
    if (!node->function)
        node->module = pct_pool_intern(b->join->pool, path);
    node->caller = pct_symbols_caller(b->source->profile, n->module, n->frame);
}

static void note_inlined(struct pct_join *j, uint32_t at)
{
    struct pct_join_node *node = &j->nodes[at], *parent = &j->nodes[node->parent];
    if (node->inlined)
        return;
    node->inlined = true;
    node->next_inlined = parent->first_inlined;
    parent->first_inlined = at;
}

static void add_cost(struct joiner *b, uint32_t at, const struct pct_node *n)
{
    struct pct_join_node *node = &b->join->nodes[at];
    struct pct_cost *cost = &b->join->costs[(size_t)at * b->join->n_runs + b->run];
    cost->present = true;
    const struct pct_call_sum own = pct_tree_own(b->tree, (uint32_t)(n - b->tree->nodes)).calls;
    cost->ns += (double)own.sum[PCT_EXCLUSIVE] * part_of(b, n);
    if (n->kind == PCOLLECT_NODE_OP) {
        cost->calls += (double)own.sum[PCT_CALLS];
        cost->bytes += (double)own.sum[PCT_SENT] + (double)own.sum[PCT_RECEIVED];
    }
    if (at && !node->context)
        node->context = n->context;
    if (n->kind == PCOLLECT_NODE_FRAME && n->frame->inlined && at)
        note_inlined(b->join, at);
    note_call(b, node, n);
    if (n->kind == PCOLLECT_NODE_FRAME && node->function && n->frame->line != node->line)
        node->line = 0; /* calls from several lines, or of several builds */
    if (n->kind == PCOLLECT_NODE_FRAME && !node->function && n->frame->function) {
        node->function = pct_pool_intern(b->join->pool, n->frame->function);
        node->file = n->frame->file ? pct_pool_intern(b->join->pool, n->frame->file) : NULL;
        node->line = n->frame->line;
    }
    note_caller(b, node, n);
}

/* Base name of the file in which the program begins: that of main, or the outermost one of Python;
 * NULL: unknown. */
static const char *find_begin(const struct joiner *b)
{
    const struct pc_profile *p = b->source->profile;
    const char *file = NULL;
    for (size_t i = 0; i < b->tree->n; i++) {
        const struct pct_node *n = &b->tree->nodes[i];
        if (n->kind != PCOLLECT_NODE_FRAME || n->module == PC_NO_INDEX || !n->frame->file)
            continue;
        bool python = pct_symbols_caller(p, n->module, n->frame) == PCT_CALLER_PYTHON;
        bool main = !file && n->frame->function && !strcmp(n->frame->function, "main") &&
                    p->modules[n->module].flags & PCOLLECT_MODULE_EXE;
        if (python || main)
            file = pct_symbols_base_name(n->frame->file);
        if (python)
            break;
    }
    return file ? pct_pool_intern(b->join->pool, file) : NULL;
}

/* True for time sampled inside MPI, which is part of the time of the calls. */
static bool is_left_out(const struct pct_tree *t, const struct pct_node *n)
{
    return n->kind == PCOLLECT_NODE_POINT &&
           !pct_tree_below(t, (uint32_t)(n - t->nodes)).computed.samples;
}

static void add_tree(struct pct_join *j, const struct pct_run *run, size_t k)
{
    static const struct pct_tree_options lines = {.grain = PCT_GRAIN_LINE};
    struct pct_joined r = {.run = run, .k = k};
    r.tree = pct_tree_new(run->totals, run->symbols, j->divided ? run->samples : NULL, &lines);
    r.node = pct_alloc(r.tree->n, sizeof *r.node);
    struct joiner b = {.join = j, .tree = r.tree, .source = run, .run = k};
    b.labels = pct_alloc(r.tree->n, sizeof *b.labels);
    for (size_t i = 0; i < r.tree->n; i++)
        b.labels[i] = label_of(&b, &r.tree->nodes[i]);
    b.sites = j->by_line ? NULL : pct_call_sites(r.tree, b.labels);
    j->begins[k] = find_begin(&b);
    if (j->room < r.tree->n) /* runs of one program have most contexts in common */
        make_room(j, r.tree->n + r.tree->n / 4);
    /* Parents come before their children. */
    for (size_t i = 0; i < r.tree->n; i++) {
        const struct pct_node *n = &r.tree->nodes[i];
        r.node[i] = i ? r.node[n->parent] : 0;
        if (is_left_out(r.tree, n))
            continue;
        r.node[i] = i ? match_node(&b, n, r.node[i]) : 0;
        add_cost(&b, r.node[i], n);
    }
    pct_join_add_computation(j, &r);
    if (j->times == PCT_JOIN_OWN_BLAMED)
        pct_join_blame(j, &r);
    pct_free(b.labels);
    pct_free(b.sites);
    pct_free(r.node);
    pct_tree_free(r.tree);
}

static int add_run(struct pct_join *j, const struct pct_run *run, size_t k, struct pc_error *error)
{
    struct pct_run open;
    struct pc_profile *profile = NULL;
    if (run->profile) {
        add_tree(j, run, k);
        return PC_OK;
    }
    int err = pc_pcol_read_columns(run->path, &profile, error);
    if (err)
        return refuse_run(run->path, err, error);
    pct_run_adopt(&open, run->path, profile, pct_symbols_new(profile));
    add_tree(j, &open, k);
    pct_run_close(&open);
    if (pc_profile_unread(profile))
        err = pc_error_set(error, PC_EFORMAT, "%s: %s", run->path, pc_profile_unread(profile));
    pc_profile_free(profile);
    return err;
}

int pct_join_new(const struct pct_run *runs, size_t n, enum pct_join_times times,
                 struct pct_join **out, struct pc_error *error)
{
    int err = PC_OK;
    struct pct_join *j = pct_alloc(1, sizeof *j);
    j->n_runs = n;
    j->divided = n > 0;
    j->times = times;
    for (size_t k = 0; k < n; k++)
        j->divided &= runs[k].sampled;
    j->pool = pct_pool_new();
    j->begins = pct_alloc(n, sizeof *j->begins);
    j->by_line = pct_runs_same_build(runs, n);
    make_room(j, 16);
    struct key root = {PCOLLECT_NODE_ROOT, pct_pool_intern(j->pool, ""), {0, 1}};
    struct key compute = {PCOLLECT_NODE_FRAME, pct_pool_intern(j->pool, COMPUTE_LABEL), {0, 1}};
    add_node(j, PC_NO_INDEX, &root);
    j->compute = add_node(j, 0, &compute);
    for (size_t k = 0; k < n && !err; k++) {
        pc_progress_begin("comparing", runs[k].path, k + 1, n);
        err = add_run(j, &runs[k], k, error);
        pc_progress_end();
    }
    if (err) {
        pct_join_free(j);
        return err;
    }
    pct_hash_free(&j->by_key);
    pct_join_unite_sites(j);
    *out = j;
    return PC_OK;
}

void pct_join_free(struct pct_join *j)
{
    if (!j)
        return;
    pct_free(j->nodes);
    pct_free(j->costs);
    pct_free(j->begins);
    pct_hash_free(&j->by_key);
    pct_pool_free(j->pool);
    pct_free(j);
}

/* ---- Labels, paths and places
 * ------------------------------------------------------------------ */

/* Appends the label, and the number of the call if there are several. */
static void put_label(const struct pct_join *j, uint32_t node, struct pct_buf *b)
{
    const struct pct_join_node *n = &j->nodes[node];
    pct_buf_text(b, n->label);
    if (n->site.number)
        pct_buf_format(b, " (call %u of %u)", n->site.number, n->site.n);
}

static void put_above(const struct pct_join *j, uint32_t node, struct pct_buf *b)
{
    uint32_t *up = NULL;
    size_t n = 0, room = 0;
    for (uint32_t i = node; i != PC_NO_INDEX && i != 0; i = j->nodes[i].parent) {
        up = pct_grow(up, n, &room, sizeof *up);
        up[n++] = i;
    }
    while (n--) {
        put_label(j, up[n], b);
        pct_buf_text(b, n ? " > " : "");
    }
    pct_free(up);
}

const char *pct_join_path(const struct pct_join *j, uint32_t node)
{
    struct pct_buf b = {0};
    pct_buf_put(&b, "", 0);
    put_above(j, node, &b);
    const char *path = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return path;
}

static bool is_function(const struct pct_join *j, uint32_t node)
{
    return j->nodes[node].kind == PCOLLECT_NODE_FRAME || j->nodes[node].kind == PCOLLECT_NODE_POINT;
}

/* The function of Python above a node that only passes its calls on; if there is none, the node
 * itself. */
static uint32_t python_above(const struct pct_join *j, uint32_t node, uint32_t *callee)
{
    uint32_t up = node, below = *callee;
    if (node == PC_NO_INDEX || j->nodes[node].kind != PCOLLECT_NODE_FRAME ||
        j->nodes[node].caller != PCT_CALLER_PASSES)
        return node;
    for (; up != PC_NO_INDEX && is_function(j, up); below = up, up = j->nodes[up].parent)
        if (j->nodes[up].caller == PCT_CALLER_PYTHON) {
            *callee = below;
            return up;
        }
    return node;
}

/* The node itself or the function above it, and the node that it calls on the way. */
static uint32_t frame_above(const struct pct_join *j, uint32_t node, uint32_t *callee)
{
    while (node != PC_NO_INDEX && !is_function(j, node)) {
        *callee = node;
        node = j->nodes[node].parent;
    }
    return python_above(j, node, callee);
}

/* Appends "solve (poisson.c:212)", the place where it calls `callee`, which may be the function
 * itself; or "solve (poisson.c, call 2 of 3)". */
static void put_function(const struct pct_join *j, uint32_t frame, uint32_t callee,
                         struct pct_buf *b)
{
    const struct pct_join_node *n = &j->nodes[frame], *of = &j->nodes[callee];
    bool called = callee != frame && of->call_file && of->call_line;
    struct pct_place_text place = {.file = n->file, .line = n->line};
    if (called)
        place = (struct pct_place_text){.file = of->call_file, .line = of->call_line};
    else if (callee != frame && of->site.number)
        place = (struct pct_place_text){
            .file = n->file, .call = of->site.number, .n_calls = of->site.n};
    if (n->function) {
        struct pct_buf name = {0};
        pct_short_name(&name, n->function);
        pct_text_escape(b, name.data, PCT_ESCAPE_CELL);
        pct_buf_free(&name);
    } else
        pct_buf_text(b, n->label);
    pct_place_put(b, &place, PCT_PLACE_SENTENCE);
}

const char *pct_join_place(const struct pct_join *j, uint32_t node, unsigned callers)
{
    struct pct_buf b = {0};
    if (node == j->compute)
        return j->divided ? "time outside MPI without a sample" : "computation outside MPI";
    pct_buf_put(&b, "", 0);
    if (j->nodes[node].kind == PCOLLECT_NODE_POINT)
        pct_buf_text(&b, "computation in ");
    uint32_t callee = node, frame = frame_above(j, node, &callee);
    if (frame != node)
        pct_buf_text(&b, j->nodes[node].label);
    if (frame != PC_NO_INDEX) {
        pct_buf_text(&b, frame != node ? " in " : "");
        put_function(j, frame, callee, &b);
        callee = frame;
        frame = frame_above(j, j->nodes[frame].parent, &callee);
    }
    for (; callers && frame != PC_NO_INDEX; callers--) {
        pct_buf_text(&b, ", from ");
        put_function(j, frame, callee, &b);
        callee = frame;
        frame = frame_above(j, j->nodes[frame].parent, &callee);
    }
    const char *place = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return place;
}

struct placed {
    const char *place;
    size_t at;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

void pct_join_places(const struct pct_join *j, const uint32_t *nodes, size_t n,
                     const char **places_out)
{
    enum { MOST = 3 };
    struct placed *list = pct_alloc(n, sizeof *list);
    for (size_t i = 0; i < n; i++)
        places_out[i] = pct_join_place(j, nodes[i], 0);
    for (unsigned callers = 1; callers <= MOST; callers++) {
        for (size_t i = 0; i < n; i++)
            list[i] = (struct placed){places_out[i], i};
        qsort(list, n, sizeof *list, compare_placed);
        for (size_t i = 0; i < n; i++) {
            if ((i && list[i].place == list[i - 1].place) ||
                (i + 1 < n && list[i].place == list[i + 1].place))
                places_out[list[i].at] = pct_join_place(j, nodes[list[i].at], callers);
        }
    }
    pct_free(list);
}
