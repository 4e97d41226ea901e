/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Folded contexts: a profile of facts of which some contexts are folded has the bytes of one that
 * is made of the facts in the places to which they go. A job with more contexts than are kept apart
 * has the same figures in all, however it is merged. A profile in which contexts of single ranks
 * are added up after reading has the same sums of each rank.
 */
#include "merge/fold.h"
#include "merge/merge.h"
#include "tests/format/random_profile.h"
#include "tests/merge/made_arena.h"
#include "tests/merge/net.h"
#include "tests/merge/unpacked.h"

#include "tests/folder.h"

/* ---- One rank -------------------------------------------------------------------------------- */

enum { MOST_STEPS = MAX_DEPTH + 4 };

/* The path of a fact as numbers that differ where its contexts do; the last one is that of its
 * record. */
struct path {
    unsigned n;
    uint64_t steps[MOST_STEPS];
};

static struct path path_of(const struct fact *f)
{
    struct path p = {0};
    if (f->phase)
        p.steps[p.n++] = f->phase;
    if (f->region)
        p.steps[p.n++] = 100 + (uint64_t)f->region;
    for (unsigned k = 0; k < f->depth; k++)
        p.steps[p.n++] =
            pc_hash_u64(f->frames[k].offset * 64 + (uint64_t)(f->frames[k].module + 8)) +
            (f->is_point && k + 1 == f->depth);
    if (f->op >= 0)
        p.steps[p.n++] = 1000 + (uint64_t)f->op;
    if (f->op >= 0 && f->domain)
        p.steps[p.n++] = f->domain;
    return p;
}

/* True if the first n steps of a path are those of another. */
static bool begins_with(const struct path *p, const struct path *other, unsigned n)
{
    return p->n >= n && !memcmp(p->steps, other->steps, n * sizeof *p->steps);
}

static bool has_record(const struct fact *f)
{
    return f->has_data && (f->op >= 0 || f->is_point);
}

/* The facts of a rank, their paths, and which have a record that is folded. */
struct facts {
    const struct fact *at;
    unsigned n;
    struct path *paths;
    bool *folded, *shared;
};

/* True if the context of fact i leads to no other and has no record. */
static bool is_bare_end(const struct facts *f, unsigned i)
{
    const struct path *p = &f->paths[i];
    for (unsigned k = 0; k < f->n; k++)
        if (begins_with(&f->paths[k], p, p->n) && (f->paths[k].n > p->n || has_record(&f->at[k])))
            return false;
    return true;
}

/* True if the context of the first n steps of fact i is kept as it is. */
static bool stays(const struct facts *f, unsigned i, unsigned n)
{
    const struct fact *fact = &f->at[i];
    if (n <= (fact->phase != 0) + (unsigned)(fact->region != 0))
        return true;
    for (unsigned k = 0; k < f->n; k++)
        if (begins_with(&f->paths[k], &f->paths[i], n) &&
            (has_record(&f->at[k]) ? !f->folded[k] : is_bare_end(f, k)))
            return true;
    return false;
}

/* True if what is folded below the first n steps of fact i stays there. */
static bool holds(const struct facts *f, unsigned i, unsigned n)
{
    const struct fact *fact = &f->at[i];
    unsigned first = (fact->phase != 0) + (unsigned)(fact->region != 0);
    bool is_frame = n > first && fact->frames[n - first - 1].module != -2;
    if (!stays(f, i, n))
        return false;
    for (unsigned k = 0; is_frame && k < f->n; k++)
        if (begins_with(&f->paths[k], &f->paths[i], n) && has_record(&f->at[k]) && f->shared[k])
            return true;
    return !is_frame;
}

/* The fact in the place to which it goes. */
static struct fact moved(const struct facts *f, unsigned i)
{
    struct fact to = f->at[i];
    unsigned n = f->paths[i].n, first = (to.phase != 0) + (unsigned)(to.region != 0);
    unsigned whole = n - (to.op >= 0 && to.domain); /* with its call, whatever the communicator */
    if (stays(f, i, whole))
        return to;
    for (n = first + to.depth - to.is_point; !holds(f, i, n); n--)
        ;
    to.depth = n - first;
    to.frames[to.depth].module = -1;
    to.frames[to.depth++].offset = PC_NODE_FOLDED;
    if (to.is_point) {
        to.frames[to.depth].module = -1;
        to.frames[to.depth++].offset = PC_NODE_FOLDED_POINT;
    }
    return to;
}

/* The key of the record of one fact. */
static uint64_t key_of(const struct shape *s, const struct fact *f)
{
    struct pc_profile *p = profile_of(s, f, 1, f->rank, 64);
    uint64_t *keys = pc_record_counts_keys(p), key = keys[0];
    assert_int_equal(p->n_data, 1);
    free(keys);
    pc_profile_free(p);
    return key;
}

/* Ranks that have a record: none for about `percent` % of the keys, as it is folded, else 1 or 2.
 */
static uint32_t ranks_of(uint64_t key, unsigned percent)
{
    uint64_t hash = pc_hash_u64(key);
    return hash % 100 < percent ? 0 : 1 + (uint32_t)(hash >> 63);
}

/* Folds about `percent` % of the records, and returns the keys as counts. */
static struct pc_record_counts choose_folded(const struct shape *s, struct facts *f,
                                             unsigned percent)
{
    struct pc_profile *p = profile_of(s, f->at, f->n, 0, 64);
    struct pc_record_counts c;
    uint64_t *keys = pc_record_counts_keys(p);
    assert_int_equal(pc_record_counts_take(p, keys, &c), PC_OK);
    for (size_t i = 0; i < c.n; i++)
        c.rows[i].n_ranks = ranks_of(c.rows[i].key, percent);
    for (unsigned i = 0; i < f->n; i++) {
        uint32_t n_ranks = has_record(&f->at[i]) ? ranks_of(key_of(s, &f->at[i]), percent) : 1;
        f->folded[i] = n_ranks == 0;
        f->shared[i] = n_ranks == 2;
    }
    free(keys);
    pc_profile_free(p);
    return c;
}

/* Only what was folded is marked as such; takes the marks. */
static void check_marks(struct pc_profile *p)
{
    bool *below = calloc(p->n_nodes, sizeof *below);
    for (uint32_t i = 1; i < p->n_nodes; i++) {
        struct pc_profile_node *n = &p->nodes[i];
        below[i] = below[n->parent] || pc_node_is_folded(n);
        assert_int_equal(n->flags, below[i] ? PCOLLECT_FLAG_COLLAPSED : 0);
        n->flags = 0;
    }
    free(below);
}

/* Makes a record of one rank that of an arena, without lists. */
static void drop_lists(struct pc_profile_data *d)
{
    d->lone = d->values;
    d->form = PC_FORM_LONE;
    d->kept = PC_KEPT_NONE;
    d->ranks = NULL;
    d->values = NULL;
}

static void check_fold(const struct shape *s, uint64_t seed, unsigned percent)
{
    struct facts f = {0};
    struct fact *at = random_facts(s, seed, 0, &f.n);
    f.at = at;
    f.paths = calloc(f.n + 1, sizeof *f.paths);
    f.folded = calloc(f.n + 1, sizeof *f.folded);
    f.shared = calloc(f.n + 1, sizeof *f.shared);
    for (unsigned i = 0; i < f.n; i++)
        f.paths[i] = path_of(&f.at[i]);
    struct pc_record_counts c = choose_folded(s, &f, percent);
    struct fact *to = calloc(f.n + 1, sizeof *to);
    for (unsigned i = 0; i < f.n; i++)
        to[i] = moved(&f, i);
    struct pc_profile *p = profile_of(s, f.at, f.n, 0, 64), *wanted = profile_of(s, to, f.n, 0, 64);
    uint64_t *keys = pc_record_counts_keys(p);
    for (uint32_t i = 0; i < p->n_data; i++)
        drop_lists(&p->data[i]);
    for (uint32_t i = 0; i < wanted->n_data; i++)
        drop_lists(&wanted->data[i]);
    assert_int_equal(pc_fold(p, &c, keys), PC_OK);
    check_marks(p);
    assert_int_equal(pc_profile_check(p, NULL), PC_OK);
    assert_same_bytes(p, wanted);
    pc_profile_free(p);
    pc_profile_free(wanted);
    free(keys);
    free(c.rows);
    free(to);
    free(f.paths);
    free(f.folded);
    free(f.shared);
    free(at);
}

static void folded_records_go_to_the_innermost_ancestor_that_stays(void **state)
{
    static const struct shape deep = {"deep", 60, 8, 3, false, 1000000, true, true, 0},
                              flat = {"flat", 80, 2, 5, false, 1000000, true, true, 0};
    static const unsigned percents[] = {0, 10, 50, 90, 100};
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++)
        for (unsigned k = 0; k < PC_ARRAY_LEN(percents); k++)
            check_fold(seed % 2 ? &deep : &flat, seed, percents[k]);
}

/* ---- Calls within calls ---------------------------------------------------------------------- */

/* A profile of rank 0 with those nodes, of which each that may have a record has one. */
static struct pc_profile *profile_with(const struct pc_profile_node *nodes, uint32_t n)
{
    static const struct shape none = {"none", 0, 0, 1, false, 1, true, false, 0};
    struct pc_profile *p = profile_of(&none, NULL, 0, 0, 1);
    p->nodes = pc_pool_array(p->memory, n, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, n, sizeof *p->data);
    p->n_nodes = n;
    for (uint32_t i = 0; i < n; i++) {
        struct pc_profile_node *node = &p->nodes[i];
        *node = nodes[i];
        node->data = PC_NO_INDEX;
        if (!pcollect_node_has_record(node->kind))
            continue;
        struct pc_profile_data *d = &p->data[node->data = p->n_data++];
        assert_true(pc_profile_data_init(p, d, node->kind, 1));
        for (uint32_t k = d->first_field; k < p->n_fields; k++)
            d->values[k - d->first_field] = test_fields[k].combine == PCOLLECT_HIST ? 0 : i;
        pc_profile_data_derive(p, d);
        drop_lists(d);
    }
    pc_profile_count_descendants(p);
    assert_int_equal(pc_profile_check(p, NULL), PC_OK);
    return p;
}

/* Folds all records but the last. */
static void fold_all_but_last(struct pc_profile *p)
{
    struct pc_record_counts c;
    uint64_t *keys = pc_record_counts_keys(p);
    assert_int_equal(pc_record_counts_take(p, keys, &c), PC_OK);
    for (size_t i = 0; i < c.n; i++)
        c.rows[i].n_ranks = c.rows[i].key == keys[p->n_data - 1] ? 2 : 0;
    assert_int_equal(pc_fold(p, &c, keys), PC_OK);
    assert_int_equal(pc_profile_check(p, NULL), PC_OK);
    free(keys);
    free(c.rows);
}

#define NODE(PARENT, KIND, MODULE, OP, OFFSET)                                                     \
    {                                                                                              \
        .parent = (PARENT), .kind = PCOLLECT_NODE_##KIND, .module = (MODULE), .op = (OP),          \
        .offset = (OFFSET)                                                                         \
    }
#define NONE PC_NO_INDEX

static void what_is_in_a_call_stays_in_it(void **state)
{
    static const struct pc_profile_node nodes[] = {
        NODE(NONE, ROOT, NONE, NONE, 0), NODE(0, FRAME, 0, NONE, 1), NODE(1, FRAME, 2, NONE, 5),
        NODE(2, OP, NONE, 0, 0),         NODE(3, FRAME, 1, NONE, 2), NODE(4, OP, NONE, 1, 0),
        NODE(5, DOMAIN, NONE, NONE, 77), NODE(3, POINT, 1, NONE, 3), NODE(1, OP, NONE, 2, 0)};
    static const struct pc_profile_node wanted[] = {
        NODE(NONE, ROOT, NONE, NONE, 0),
        NODE(0, FRAME, 0, NONE, 1),
        NODE(1, FRAME, NONE, NONE, PC_NODE_FOLDED),
        NODE(2, OP, NONE, 0, 0),
        NODE(3, OP, NONE, 1, 0),
        NODE(4, DOMAIN, NONE, NONE, 77),
        NODE(3, POINT, NONE, NONE, PC_NODE_FOLDED_POINT),
        NODE(1, OP, NONE, 2, 0)};
    struct pc_profile *p = profile_with(nodes, PC_ARRAY_LEN(nodes));
    (void)state;
    fold_all_but_last(p);
    assert_int_equal(p->n_nodes, PC_ARRAY_LEN(wanted));
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        assert_int_equal(pc_node_compare(&p->nodes[i], &wanted[i]), 0);
        assert_int_equal(p->nodes[i].parent, wanted[i].parent);
    }
    pc_profile_free(p);
}

/* A call in a call in a call, each on a communicator. */
static void calls_of_any_depth_are_folded(void **state)
{
    enum { DEEP = 1000 };
    static struct pc_profile_node nodes[3 * DEEP + 2] = {NODE(NONE, ROOT, NONE, NONE, 0)};
    const struct pc_profile_node chain[] = {NODE(0, FRAME, 0, NONE, 1), NODE(0, OP, NONE, 0, 0),
                                            NODE(0, DOMAIN, NONE, NONE, 7)};
    const struct pc_profile_node last = NODE(0, OP, NONE, 1, 0);
    (void)state;
    for (uint32_t i = 0; i < 3 * DEEP; i++) {
        nodes[i + 1] = chain[i % 3];
        nodes[i + 1].parent = i;
    }
    nodes[3 * DEEP + 1] = last;
    struct pc_profile *p = profile_with(nodes, 3 * DEEP + 2);
    uint64_t sum = 0, folded = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += (uint64_t)pc_data_stat(p, &p->data[i], 0).sum;
    fold_all_but_last(p);
    for (uint32_t i = 0; i < p->n_data; i++)
        folded += (uint64_t)pc_data_stat(p, &p->data[i], 0).sum;
    assert_int_equal(test_fields[0].combine, PCOLLECT_SUM);
    assert_int_equal(folded, sum);
    assert_in_range(p->n_nodes, 4, 40);
    pc_profile_free(p);
}

/* ---- A job ----------------------------------------------------------------------------------- */

enum { MOST_RANKS = 16 };

struct job {
    int n_ranks;
    struct made arenas[MOST_RANKS];
    struct pc_profile *result;
};

static const struct shape many = {"many", 200, 5, 6, false, 1000000000, true, true, 0};

static void make_job(struct job *j, int n_ranks, uint32_t contexts)
{
    memset(j, 0, sizeof *j);
    j->n_ranks = n_ranks;
    for (int rank = 0; rank < n_ranks; rank++) {
        const struct making how = {.rank = rank,
                                   .n_ranks = n_ranks,
                                   .seed = (uint64_t)rank * 7 + 1,
                                   .bytes = (size_t)1 << 20,
                                   .all_kinds = true,
                                   .tables = true,
                                   .contexts = contexts};
        unsigned n;
        struct fact *facts = random_facts(&many, 17, rank, &n);
        made_arena(&j->arenas[rank], &how, facts, n);
        free(facts);
    }
}

static void free_job(struct job *j)
{
    for (int rank = 0; rank < j->n_ranks; rank++)
        pc_arena_close(&j->arenas[rank].arena);
    pc_profile_free(j->result);
}

static void reduce(struct net_rank *r, void *arg)
{
    struct job *j = arg;
    const struct pc_arena *a = &j->arenas[r->transport.rank].arena;
    struct pc_profile *mine = NULL;
    struct pc_reduced reduced;
    struct pc_error error = {""};
    pc_merge_arena(a->base, a->header->used_bytes, PC_MERGE_MAIN, &mine, NULL);
    assert_int_equal(pc_merge_reduce(&r->transport, mine, &reduced, &error), PC_OK);
    assert_null(reduced.share);
    if (!r->transport.rank)
        j->result = reduced.sum;
}

/* Sums over all records of a primitive (the last: samples), by field, and calls by communicator. */
struct sums {
    pc_u128 fields[N_TEST_OPS + 1][N_TEST_FIELDS];
    pc_u128 domains;
    uint64_t bins, rows[N_TEST_TABLES][TEST_ROW_CELLS];
};

static void add_record(const struct pc_profile *p, uint32_t node, struct sums *s)
{
    const struct pc_profile_node *n = &p->nodes[node];
    const struct pc_profile_data *d = &p->data[n->data];
    uint32_t op = n->kind == PCOLLECT_NODE_DOMAIN ? p->nodes[n->parent].op : n->op;
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        pc_u128 sum = pc_data_stat(p, d, k).sum;
        const uint64_t *bins = pc_data_bins(p, d, k);
        if (p->fields[k].combine == PCOLLECT_SUM)
            s->fields[op == PC_NO_INDEX ? N_TEST_OPS : op][k] += sum;
        if (p->fields[k].combine == PCOLLECT_SUM && n->kind == PCOLLECT_NODE_DOMAIN)
            s->domains += sum * (n->offset % 1000);
        for (uint32_t bin = 0; bins && bin < p->fields[k].bins; bin++)
            s->bins += bins[bin] * (bin + 1);
    }
}

static struct sums sums_of(const struct pc_profile *p)
{
    struct sums s = {0};
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].data != PC_NO_INDEX)
            add_record(p, i, &s);
    assert_true(p->n_tables <= N_TEST_TABLES);
    for (uint32_t t = 0; t < p->n_tables; t++) {
        const struct pc_profile_table *table = pc_profile_table(p, p->tables[t].name);
        for (uint32_t r = 0; r < table->n_rows; r++)
            for (uint32_t i = table->n_keys; i < table->n_columns; i++)
                if (table->columns[i].combine == PCOLLECT_SUM)
                    s.rows[t][i] += pc_table_cell(table, r, i);
    }
    return s;
}

static uint32_t folded_records(const struct pc_profile *p)
{
    uint32_t n = 0;
    bool *below = calloc(p->n_nodes, sizeof *below);
    for (uint32_t i = 1; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        below[i] = below[node->parent] || pc_node_is_folded(node);
        n += below[i] && node->data != PC_NO_INDEX;
        if (below[i] && node->data != PC_NO_INDEX)
            assert_false(p->data[node->data].kept);
    }
    free(below);
    return n;
}

static void a_job_has_the_same_figures_however_many_contexts_are_kept(void **state)
{
    static const uint32_t bounds[] = {0, 1, 10, 100, 300, 1000000};
    (void)state;
    for (int n_ranks = 1; n_ranks <= MOST_RANKS; n_ranks += 5) {
        struct sums all;
        uint32_t n_all = 0, last = 0;
        for (unsigned i = 0; i < PC_ARRAY_LEN(bounds); i++) {
            static struct job j;
            make_job(&j, n_ranks, bounds[i]);
            struct net *net = net_new(n_ranks, i % 2);
            net_run(net, reduce, &j);
            assert_int_equal(net_left(net), 0);
            struct pc_profile *offline = made_merge(j.arenas, j.n_ranks, folder),
                              *p = unpacked(j.result);
            assert_same_bytes(j.result, offline);
            struct sums sums = sums_of(p);
            uint32_t folded = folded_records(p), apart = p->n_data - folded;
            if (!i) {
                all = sums;
                n_all = p->n_data;
            }
            assert_memory_equal(&sums, &all, sizeof sums);
            assert_true(bounds[i] && bounds[i] < n_all ? folded > 0 : !folded);
            /* Beside those that are kept only other communicators of their calls may stay. */
            uint32_t most = bounds[i] && bounds[i] < n_all ? bounds[i] : n_all;
            assert_in_range(apart, most, most * 4 < n_all ? most * 4 : n_all);
            assert_true(i < 2 || apart >= last);
            last = apart;
            pc_profile_free(p);
            pc_profile_free(offline);
            net_free(net);
            free_job(&j);
        }
    }
}

/* ---- A profile that was read ----------------------------------------------------------------- */

/* Sums by primitive (the last: samples), rank and field. */
struct rank_sums {
    uint64_t at[N_TEST_OPS + 1][MOST_RANKS][N_TEST_FIELDS];
};

static void add_ranks(const struct pc_profile *p, uint32_t node, struct rank_sums *s)
{
    const struct pc_profile_node *n = &p->nodes[node];
    const struct pc_profile_data *d = &p->data[n->data];
    uint32_t op = n->kind == PCOLLECT_NODE_DOMAIN ? p->nodes[n->parent].op : n->op;
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        if (p->fields[k].combine == PCOLLECT_HIST)
            continue;
        struct pc_by_rank by = pc_data_by_rank(p, d, k);
        struct pc_stat told = pc_data_stat(p, d, k), found = pc_stat_of(p, &by, k);
        assert_int_equal(by.n, d->n_ranks);
        assert_true(pc_stat_same(&told, &found));
        for (uint32_t i = 0; i < by.n && p->fields[k].combine == PCOLLECT_SUM; i++)
            s->at[op == PC_NO_INDEX ? N_TEST_OPS : op][by.ranks[i]][k] += pc_by_rank_value(&by, i);
    }
}

static void check_added_up(const char *path, uint32_t most, const struct sums *all,
                           const struct rank_sums *all_ranks)
{
    struct pc_profile *p;
    struct rank_sums ranks = {0};
    uint32_t n_own = 0, n_contexts = 0, n_apart = 0;
    assert_int_equal(pc_pcol_read_columns(path, &p, NULL), PC_OK);
    uint32_t n_before = p->n_data;
    for (uint32_t i = 0; i < p->n_data; i++)
        n_own += p->data[i].form == PC_FORM_PACKED;
    assert_int_equal(pc_fold_own(p, most, &n_contexts), PC_OK);
    struct sums sums = sums_of(p);
    bool *below = calloc(p->n_nodes, sizeof *below);
    for (uint32_t i = 1; i < p->n_nodes; i++) {
        below[i] = below[p->nodes[i].parent] || pc_node_is_folded(&p->nodes[i]);
        if (p->nodes[i].data == PC_NO_INDEX)
            continue;
        n_apart += !below[i];
        add_ranks(p, i, &ranks);
    }
    free(below);
    assert_memory_equal(&sums, all, sizeof sums);
    assert_memory_equal(&ranks, all_ranks, sizeof ranks);
    /* Other communicators of a call that stays may stay as well. */
    uint32_t more = n_before > most ? n_before - most : 0, left = more < n_own ? more : n_own;
    assert_in_range(n_before - n_apart, left / 2, left);
    assert_true(n_contexts <= n_before - n_apart && (left < 10 || n_contexts > 0));
    pc_profile_free(p);
}

static void contexts_of_single_ranks_are_added_up_with_their_values(void **state)
{
    static const uint32_t bounds[] = {0, 1, 20, 200, 1000000};
    char path[PATH_BYTES];
    (void)state;
    for (int n_ranks = 1; n_ranks <= MOST_RANKS; n_ranks += 5) {
        static struct job j;
        struct rank_sums ranks = {0};
        struct pc_profile *p;
        make_job(&j, n_ranks, 0);
        p = made_merge(j.arenas, j.n_ranks, folder);
        assert_int_equal(pc_pcol_write(p, path_in(path, "job.pcol"), 0, NULL), PC_OK);
        pc_profile_free(p);
        assert_int_equal(pc_pcol_read_columns(path, &p, NULL), PC_OK);
        struct sums all = sums_of(p);
        for (uint32_t i = 1; i < p->n_nodes; i++)
            if (p->nodes[i].data != PC_NO_INDEX)
                add_ranks(p, i, &ranks);
        pc_profile_free(p);
        for (unsigned i = 0; i < PC_ARRAY_LEN(bounds); i++)
            check_added_up(path, bounds[i], &all, &ranks);
        unlink(path);
        free_job(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_records_go_to_the_innermost_ancestor_that_stays),
        cmocka_unit_test(what_is_in_a_call_stays_in_it),
        cmocka_unit_test(calls_of_any_depth_are_folded),
        cmocka_unit_test(a_job_has_the_same_figures_however_many_contexts_are_kept),
        cmocka_unit_test(contexts_of_single_ranks_are_added_up_with_their_values),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
