/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matches the trees of several runs. Each run's tree is walked from its root; a node finds or makes
 * its counterpart below that of its parent.
 */
#include "analysis/compare/call_sites.h"
#include "analysis/compare/join_private.h"
#include "analysis/symbols/short_name.h"

#include "analysis/open_calls.h"
#include "analysis/runtime_work.h"
#include "analysis/tree/label.h"
#include "base/progress.h"
#include "format/team_runtime.h"

#include <string.h>

#define COMPUTE_LABEL "(computation)"
#define WAITING_LABEL "(waiting for a processor)"
#define OTHERS_LABEL "(waiting for ranks without a processor)"
#define ABSENT_LABEL "(ranks that begin later or end sooner)"

struct joiner {
    struct pct_join *join;
    const struct pct_tree *tree; /* of the run being added */
    const struct pct_run *source;
    size_t run;
    const char **labels;         /* key of each node of the tree */
    const char **modules;        /* by module of the run: its name in all runs, interned */
    bool *rebuilt;               /* by module: another run has another build of it */
    bool threads_wait;           /* in runtimes of OpenMP, which do no work of their own */
    struct pct_call_site *sites; /* by node of the tree; NULL: the lines are in the labels */
};

/* ---- Nodes ----------------------------------------------------------------------------------- */

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
    uint32_t *cost_of = pct_alloc(room * j->n_runs, sizeof *cost_of);
    if (j->n) {
        memcpy(nodes, j->nodes, j->n * sizeof *nodes);
        memcpy(cost_of, j->cost_of, j->n * j->n_runs * sizeof *cost_of);
    }
    pct_free(j->nodes);
    pct_free(j->cost_of);
    j->nodes = nodes;
    j->cost_of = cost_of;
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

/* Types of handles and of the status in mpi.h of Open MPI 4.1 and 5.0, and in that of MPICH 4.0,
 * where most handles are numbers. */
static const char *const types[][2] = {{"ompi_communicator_t*", "int"},
                                       {"ompi_datatype_t*", "int"},
                                       {"ompi_errhandler_t*", "int"},
                                       {"ompi_file_t*", "ADIOI_FileD*"},
                                       {"ompi_group_t*", "int"},
                                       {"ompi_info_t*", "int"},
                                       {"ompi_instance_t*", "int"},
                                       {"ompi_message_t*", "int"},
                                       {"ompi_op_t*", "int"},
                                       {"ompi_request_t*", "int"},
                                       {"ompi_status_public_t", "MPI_Status"},
                                       {"ompi_win_t*", "int"}};

/* Appends the name of a function as it would be with MPICH. */
static void put_mpich_name(struct pct_buf *b, const char *name)
{
    while (*name) {
        size_t i = 0, n = strcspn(name + 1, "o") + 1; /* types begin with o */
        while (i < PC_ARRAY_LEN(types) && strncmp(name, types[i][0], strlen(types[i][0])) != 0)
            i++;
        if (i < PC_ARRAY_LEN(types)) {
            pct_buf_text(b, types[i][1]);
            n = strlen(types[i][0]);
        } else {
            pct_buf_put(b, name, n);
        }
        name += n;
    }
}

/* Appends the name by which a function is known in all builds and with all MPI libraries. */
static void put_function(const struct pct_join *j, const char *function, struct pct_buf *out)
{
    struct pct_buf whole = {0}, name = {0};
    pct_name_of_builds(&whole, function);
    pct_buf_put(&name, "", 0);
    if (j->mixed_mpi)
        put_mpich_name(&name, whole.data);
    pct_text_escape(out, j->mixed_mpi ? name.data : whole.data, PCT_ESCAPE_NAME);
    pct_buf_free(&name);
    pct_buf_free(&whole);
}

const char *pct_join_function(const struct pct_join *j, const char *name)
{
    struct pct_buf b = {0};
    pct_buf_put(&b, name, j->by_line ? strlen(name) : pct_name_uncopied_bytes(name));
    const char *interned = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return interned;
}

/* Interns the name of a module that it has in all runs: libraries that are built for each MPI, as
 * Debian's libhdf5_openmpi.so, have its name in theirs. */
static const char *name_module(const struct pct_join *j, const char *name)
{
    static const char *const mpis[] = {"_openmpi", "_mpich", "-openmpi", "-mpich"};
    struct pct_buf b = {0};
    const char *at = NULL;
    size_t n = 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(mpis) && j->mixed_mpi && !at; i++) {
        at = strstr(name, mpis[i]);
        n = strlen(mpis[i]);
    }
    pct_buf_put(&b, name, at ? (size_t)(at - name) : strlen(name));
    pct_buf_text(&b, at ? at + n : "");
    const char *interned = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return interned;
}

/* True if the runs have several builds of the module. */
static bool is_rebuilt(const struct pct_join *j, const struct pct_run *runs, const char *module)
{
    uint64_t build = 0;
    for (size_t k = 0; k < j->n_runs; k++)
        for (size_t i = 0; i < runs[k].n_modules; i++) {
            const struct pct_run_module *m = &runs[k].modules[i];
            if (!m->build || name_module(j, m->name) != module)
                continue;
            if (build && build != m->build)
                return true;
            build = m->build;
        }
    return false;
}

static void name_modules(struct joiner *b, const struct pct_run *runs)
{
    const struct pc_profile *p = b->source->profile;
    b->modules = pct_alloc(p->n_modules, sizeof *b->modules);
    b->rebuilt = pct_alloc(p->n_modules, sizeof *b->rebuilt);
    for (uint32_t i = 0; i < p->n_modules; i++) {
        b->modules[i] = name_module(b->join, pc_base_name(p->modules[i].path));
        b->rebuilt[i] = !b->join->by_line && is_rebuilt(b->join, runs, b->modules[i]);
    }
}

/* True for the main program of Fortran, which its main calls. With debug information it has the
 * name that the source gives it, else that of its symbol, MAIN__. */
static bool is_fortran_main(const struct joiner *b, const struct pct_node *n)
{
    const struct pct_node *above = n->parent == PC_NO_INDEX ? NULL : &b->tree->nodes[n->parent];
    if (!above || above->kind != PCOLLECT_NODE_FRAME || !above->frame->function ||
        strcmp(above->frame->function, "main") != 0 || !above->frame->file)
        return false;
    const char *end = strrchr(pc_base_name(above->frame->file), '.');
    return end && (end[1] == 'f' || end[1] == 'F');
}

/* Keys by which nodes are matched. Calls of functions without a name keep the label, module and
 * offset, unless other runs have another build of the module: then those that one function calls
 * are one. Computation outside of any function is one context of its module. */
static const char *label_of(const struct joiner *b, const struct pct_node *n)
{
    bool computes = n->kind == PCOLLECT_NODE_POINT, known = n->module != PC_NO_INDEX;
    struct pct_buf text = {0};
    if (computes && !n->frame->function) {
        pct_text_escape(&text, known ? b->modules[n->module] : "unknown", PCT_ESCAPE_NAME);
    } else if (n->kind == PCOLLECT_NODE_FRAME && !n->frame->function && known &&
               b->rebuilt[n->module]) {
        pct_buf_text(&text, "nameless functions of ");
        pct_text_escape(&text, b->modules[n->module], PCT_ESCAPE_NAME);
    } else if ((n->kind != PCOLLECT_NODE_FRAME && !computes) || !n->frame->function ||
               b->join->by_line) {
        return pct_pool_intern(b->join->pool, n->label);
    } else {
        put_function(b->join, is_fortran_main(b, n) ? "MAIN__" : n->frame->function, &text);
    }
    const char *label = pct_pool_intern(b->join->pool, text.data);
    pct_buf_free(&text);
    return label;
}

/* ---- Functions inlined in only some runs ----------------------------------------------------- */

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

/* ---- One run --------------------------------------------------------------------------------- */

/* True for MPI_Init, of which the times that are compared have nothing. A recording, which is CPU
 * time alone, has all functions. */
static bool is_apart(const struct joiner *b, const struct pct_node *n)
{
    return b->join->times != PCT_JOIN_ALL && n->kind == PCOLLECT_NODE_OP && !b->source->outside &&
           pct_totals_is_init(&b->source->profile->ops[n->op]);
}

/* Rest of the time of a node. */
static double part_of(const struct joiner *b, const struct pct_node *n)
{
    if (b->join->times == PCT_JOIN_ALL || n->kind != PCOLLECT_NODE_OP)
        return 1;
    bool own = b->join->times == PCT_JOIN_OWN_BLAMED;
    const struct pc_profile_op *op = &b->source->profile->ops[n->op];
    const struct pct_run *run = b->source;
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
        from->file ? pct_pool_intern(b->join->pool, pct_place_file(from->file)) : NULL;
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
    const struct pc_profile_module *m = &b->source->profile->modules[n->module];
    if (!node->function)
        node->module = pct_pool_intern(b->join->pool, m->path);
    if (!node->function || (!node->file && !pct_symbols_is_program(m)))
        node->library = b->modules[n->module];
    node->caller = pct_symbols_caller(b->source->profile, n->module, n->frame);
}

/* True for code of a threading runtime, in which threads of the run wait for each other. */
static bool waits_for_threads(const struct joiner *b, const struct pct_node *n)
{
    return b->threads_wait && n->kind == PCOLLECT_NODE_POINT && n->module != PC_NO_INDEX &&
           pc_is_team_runtime(pc_base_name(b->source->profile->modules[n->module].path));
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

/* The ranks that call the MPI function, as struct pct_cost has them. */
static int32_t find_caller(const struct joiner *b, const struct pct_node *n)
{
    const struct pc_profile *p = b->source->profile;
    int32_t caller = 0;
    for (uint32_t s = n->first_source; s != PC_NO_INDEX; s = b->tree->next_source[s]) {
        const struct pc_profile_data *data = &p->data[p->nodes[s].data];
        caller =
            pct_join_callers(caller, data->n_ranks > 1 ? PCT_MANY_CALLERS : data->first_rank + 1);
    }
    return caller;
}

/* Notes the name of the function, and its place from the first run that has one. */
static void note_function(const struct pct_join *j, struct pct_join_node *node,
                          const struct pct_frame *f)
{
    if (node->function && (node->file || !f->file)) {
        if (f->line != node->line)
            node->line = 0; /* calls from several lines, or of several builds */
    } else if (f->function) {
        node->function = pct_join_function(j, f->function);
        node->file = f->file ? pct_pool_intern(j->pool, f->file) : NULL;
        node->line = f->line;
    }
}

static void add_cost(struct joiner *b, uint32_t at, const struct pct_node *n)
{
    const struct pct_call_sum own = pct_tree_own(b->tree, (uint32_t)(n - b->tree->nodes)).calls;
    struct pct_cost *cost = pct_join_own_cost(b->join, at, b->run);
    double ns = is_apart(b, n) ? 0 : (double)own.sum[PCT_EXCLUSIVE], part = part_of(b, n);
    cost->ns += ns * part;
    if (b->join->times == PCT_JOIN_UNDELAYED)
        cost->delayed_ns += ns * (1 - part);
    cost->calls += (double)own.sum[PCT_CALLS];
    cost->bytes += (double)own.sum[PCT_SENT] + (double)own.sum[PCT_RECEIVED];
    cost->caller = pct_join_callers(cost->caller, find_caller(b, n));
}

/* Adds a node of the run to that of the join. All calls are those of MPI functions. */
static void add_to(struct joiner *b, uint32_t at, const struct pct_node *n)
{
    struct pct_join_node *node = &b->join->nodes[at];
    pct_join_set_present(b->join, at, b->run);
    if (n->kind == PCOLLECT_NODE_OP)
        add_cost(b, at, n);
    if (at && !node->context)
        node->context = n->context;
    if (n->kind == PCOLLECT_NODE_FRAME && n->frame->inlined && at)
        note_inlined(b->join, at);
    node->inlined |= n->kind == PCOLLECT_NODE_POINT && n->frame->inlined;
    note_call(b, node, n);
    if (n->kind == PCOLLECT_NODE_FRAME)
        note_function(b->join, node, n->frame);
    note_caller(b, node, n);
    node->waits |= waits_for_threads(b, n);
}

/* Adds the calls in which threads were when their data ends. The times of ranks contain them. */
static void add_open_calls(struct joiner *b, const uint32_t *node)
{
    struct pct_open_calls *calls = pct_open_calls_new(b->source->profile);
    for (size_t i = 0; i < calls->n; i++) {
        const struct pct_open_call *c = &calls->list[i];
        uint32_t at = b->tree->shown[c->node];
        struct pct_cost *cost = pct_join_own_cost(b->join, node[at], b->run);
        double ns = (double)c->ns * part_of(b, &b->tree->nodes[at]);
        cost->ns += ns;
        cost->open_ns += ns;
    }
    pct_open_calls_free(calls);
}

/* True if functions of the program have no lines: it was built without -g. */
static bool has_no_lines(const struct joiner *b)
{
    const struct pc_profile *p = b->source->profile;
    bool any = false;
    for (size_t i = 0; i < b->tree->n; i++) {
        const struct pct_node *n = &b->tree->nodes[i];
        if (n->kind != PCOLLECT_NODE_FRAME || n->module == PC_NO_INDEX || !n->frame->function ||
            !(p->modules[n->module].flags & PCOLLECT_MODULE_EXE))
            continue;
        if (n->frame->line)
            return false;
        any = true;
    }
    return any;
}

/* True for time sampled inside MPI, which is part of the time of the calls. */
static bool is_left_out(const struct pct_tree *t, const struct pct_node *n)
{
    return n->kind == PCOLLECT_NODE_POINT &&
           !pct_tree_below(t, (uint32_t)(n - t->nodes)).computed.samples;
}

/* The node that has the contexts of a run: the root; where other recordings have a region for each
 * program, that of the only one of this. */
static uint32_t find_root(struct pct_join *j, const struct pct_run *runs, size_t run)
{
    struct pct_buf label = {0};
    struct key key = {.kind = PCOLLECT_NODE_REGION, .site = {0, 1}};
    bool by_program = false;
    for (size_t k = 0; k < j->n_runs; k++)
        by_program |= runs[k].by_program;
    if (!by_program || runs[run].by_program)
        return 0;
    pct_label_region(&label, pc_base_name(runs[run].program));
    key.label = pct_pool_intern(j->pool, label.data);
    pct_buf_free(&label);
    uint32_t found = find_child(j, 0, &key);
    return found != PC_NO_INDEX ? found : add_node(j, 0, &key);
}

static void add_tree(struct pct_join *j, const struct pct_run *runs, const struct pct_run *run,
                     size_t k)
{
    static const struct pct_tree_options lines = {.grain = PCT_GRAIN_LINE};
    struct pct_joined r = {.run = run, .k = k};
    r.tree = pct_tree_new(run->totals, run->symbols, j->divided ? run->samples : NULL, &lines);
    r.node = pct_alloc(r.tree->n, sizeof *r.node);
    struct joiner b = {.join = j, .tree = r.tree, .source = run, .run = k};
    name_modules(&b, runs);
    b.threads_wait = run->threads_wait && run->samples &&
                     !pct_runtime_works(run->profile, run->symbols, run->samples);
    b.labels = pct_alloc(r.tree->n, sizeof *b.labels);
    for (size_t i = 0; i < r.tree->n; i++)
        b.labels[i] = label_of(&b, &r.tree->nodes[i]);
    pct_join_match_programs(j, &r, b.labels);
    b.sites = j->by_line ? NULL : pct_call_sites(r.tree, b.labels);
    j->lineless[k] = has_no_lines(&b);
    if (j->room < r.tree->n) /* runs of one program have most contexts in common */
        make_room(j, r.tree->n + r.tree->n / 4);
    /* Parents come before their children. */
    for (size_t i = 0; i < r.tree->n; i++) {
        const struct pct_node *n = &r.tree->nodes[i];
        r.node[i] = i ? r.node[n->parent] : find_root(j, runs, k);
        if (is_left_out(r.tree, n))
            continue;
        r.node[i] = i ? match_node(&b, n, r.node[i]) : r.node[i];
        add_to(&b, r.node[i], n);
    }
    add_open_calls(&b, r.node);
    pct_join_add_computation(j, &r);
    if (j->times == PCT_JOIN_OWN_BLAMED)
        pct_join_blame(j, &r);
    pct_free(b.labels);
    pct_free(b.modules);
    pct_free(b.rebuilt);
    pct_free(b.sites);
    pct_free(r.node);
    pct_free(r.parts);
    pct_tree_free(r.tree);
}

static int add_run(struct pct_join *j, const struct pct_run *runs, size_t k, struct pc_error *error)
{
    const struct pct_run *run = &runs[k];
    struct pct_run open;
    struct pc_profile *profile = NULL;
    if (run->profile) {
        add_tree(j, runs, run, k);
        return PC_OK;
    }
    int err = pc_pcol_read_columns(run->path, &profile, error);
    if (err)
        return pct_run_refuse(run->path, err, error);
    pct_run_open(run, profile, pct_symbols_new(profile), &open);
    add_tree(j, runs, &open, k);
    pct_run_close(&open);
    if (pc_profile_unread(profile))
        err = pc_error_set(error, PC_EFORMAT, "%s: %s", run->path, pc_profile_unread(profile));
    pc_profile_free(profile);
    return err;
}

static struct pct_join *begin_join(const struct pct_run *runs, size_t n, enum pct_join_times times,
                                   bool by_line)
{
    struct pct_join *j = pct_alloc(1, sizeof *j);
    j->n_runs = n;
    j->divided = n > 0;
    j->times = times;
    j->n_ranks = times == PCT_JOIN_UNDELAYED && n ? runs[0].n_ranks : 0;
    for (size_t k = 0; k < n; k++) {
        if (runs[k].n_ranks != j->n_ranks || runs[k].n_missing || j->n_ranks > PCT_JOIN_RANKS)
            j->n_ranks = 0;
        j->divided &= runs[k].sampled;
        j->cpu_time |= times == PCT_JOIN_UNDELAYED && (runs[k].n_working > 1 || runs[k].outside);
    }
    j->cpu_time &= j->divided;
    j->pool = pct_pool_new();
    j->begins = pct_alloc(n, sizeof *j->begins);
    j->several = pct_alloc(n, sizeof *j->several);
    j->lineless = pct_alloc(n, sizeof *j->lineless);
    j->by_line = by_line;
    j->mixed_mpi = !by_line && pct_runs_differ_in_mpi(runs, n);
    make_room(j, 16);
    j->n_costs = PCT_N_SHARED_COSTS;
    j->costs = pct_grow(j->costs, j->n_costs, &j->costs_room, sizeof *j->costs);
    j->costs[PCT_COST_NOTHING].present = true;
    struct key root = {PCOLLECT_NODE_ROOT, pct_pool_intern(j->pool, ""), {0, 1}};
    struct key compute = {PCOLLECT_NODE_FRAME, pct_pool_intern(j->pool, COMPUTE_LABEL), {0, 1}};
    bool all = times == PCT_JOIN_ALL;
    struct key waiting = {
        PCOLLECT_NODE_FRAME, pct_pool_intern(j->pool, all ? WAITING_LABEL : OTHERS_LABEL), {0, 1}};
    add_node(j, PC_NO_INDEX, &root);
    j->compute = add_node(j, 0, &compute);
    struct key absent = {PCOLLECT_NODE_FRAME, pct_pool_intern(j->pool, ABSENT_LABEL), {0, 1}};
    j->waiting = times == PCT_JOIN_UNDELAYED ? PC_NO_INDEX : add_node(j, 0, &waiting);
    j->absent = times == PCT_JOIN_OWN_BLAMED ? add_node(j, 0, &absent) : PC_NO_INDEX;
    return j;
}

/* True if runs of one build differ: the program was stripped of its lines before or after some. */
static bool lacks_lines(const struct pct_join *j)
{
    size_t n = 0;
    for (size_t k = 0; k < j->n_runs; k++)
        n += j->lineless[k];
    return n > 0 && n < j->n_runs;
}

int pct_join_new(const struct pct_run *runs, size_t n, enum pct_join_times times,
                 struct pct_join **out, struct pc_error *error)
{
    bool by_line = pct_runs_same_build(runs, n), again;
    do {
        struct pct_join *j = begin_join(runs, n, times, by_line);
        int err = PC_OK;
        for (size_t k = 0; k < n && !err; k++) {
            pc_progress_begin("comparing", runs[k].path, k + 1, n);
            err = add_run(j, runs, k, error);
            pc_progress_end();
        }
        again = !err && by_line && lacks_lines(j);
        if (err || again) {
            pct_join_free(j);
            by_line = false;
        } else {
            pct_hash_free(&j->by_key);
            pct_join_unite_sites(j);
            *out = j;
        }
        if (err)
            return err;
    } while (again);
    return PC_OK;
}

void pct_join_free(struct pct_join *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->n_costs; i++)
        pct_free(j->costs[i].rank_ns);
    pct_free(j->nodes);
    pct_free(j->cost_of);
    pct_free(j->costs);
    pct_free(j->begins);
    pct_free(j->several);
    pct_free(j->programs);
    pct_free(j->renamed);
    pct_free(j->lineless);
    pct_hash_free(&j->by_key);
    pct_pool_free(j->pool);
    pct_free(j);
}
