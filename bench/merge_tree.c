/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated ranks whose calls are nested: see merge_tree.h.
 *
 * The first step of reduce.c goes up the tree before anything goes down, so a rank would have to
 * stay in memory until the choice comes. Instead it runs twice: the first time it sends its counts,
 * and all later messages fail; the second time it sends everything. Counts of subtrees of at least
 * STORED ranks are kept for the second time, those of smaller ones are computed again.
 *
 * malloc and similar functions are wrapped (bench/local.mk): the memory of a rank is on its
 * account, except messages that are under way.
 */
#include "bench/merge_tree.h"

#include "format/bytes.h"
#include "merge/merge.h"
#include "merge/message.h"
#include "merge/route.h"

#include <malloc.h>
#include <time.h>

enum { MOST_ROUNDS = 31, STORED = 16 };
enum { COUNTS, PROFILE, VALUES, N_UP }; /* messages to the parent, in their order */

/* Its length, then the bytes. */
struct message {
    struct pc_buffer bytes;
    size_t at; /* received so far */
    double sent_s;
};

struct account {
    size_t bytes, peak;
};

struct node {
    struct pc_transport transport;
    struct pc_route route; /* by rank */
    struct tree *tree;
    bool counts_only;
    double clock_s;
    struct message *choice; /* from the parent */
    struct message *up;     /* N_UP to the parent */
    unsigned n_up;
    struct message from[MOST_ROUNDS][N_UP], to[MOST_ROUNDS]; /* children, by round */
    unsigned n_from[MOST_ROUNDS];
    struct account account;
};

struct tree {
    struct merge_tree *public;
    struct message *stored; /* counts by rank / STORED */
    double mark_s;          /* the code of a rank has run since then */
    int err;                /* the first */
    struct pc_error *error;
};

/* ---- Memory --------------------------------------------------------------------------------- */

static struct account *account; /* of the rank that runs; NULL: nobody's */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static void book(size_t more, size_t less)
{
    if (!account)
        return;
    account->bytes += more - less;
    if (account->bytes > account->peak)
        account->peak = account->bytes;
}

void *__wrap_malloc(size_t n)
{
    void *p = __real_malloc(n);
    book(malloc_usable_size(p), 0);
    return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = __real_calloc(n, size);
    book(malloc_usable_size(p), 0);
    return p;
}

void *__wrap_realloc(void *p, size_t n)
{
    size_t had = malloc_usable_size(p);
    void *q = __real_realloc(p, n);
    if (q)
        book(malloc_usable_size(q), had);
    return q;
}

void __wrap_free(void *p)
{
    book(0, malloc_usable_size(p));
    __real_free(p);
}

/* ---- Time ----------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The code of a rank calls the simulator. */
static void leave(struct node *n)
{
    account = NULL;
    n->clock_s += now_s() - n->tree->mark_s;
}

static void enter(struct node *n)
{
    account = &n->account;
    n->tree->mark_s = now_s();
}

/* ---- Messages ------------------------------------------------------------------------------- */

static int round_of(const struct node *n, int child)
{
    return __builtin_ctz((unsigned)(child ^ n->transport.rank));
}

static bool is_parent(const struct node *n, int rank)
{
    return rank < n->transport.rank;
}

static size_t left(const struct message *m)
{
    return m->bytes.n - m->at;
}

/* Bytes of the next transfer: a length takes 8. */
static size_t next_transfer(const struct message *m)
{
    if (!m->at)
        return sizeof(uint64_t);
    return left(m) < PC_MESSAGE_PIECE_BYTES ? left(m) : PC_MESSAGE_PIECE_BYTES;
}

static bool is_whole(const struct message *m)
{
    uint64_t length;
    if (m->bytes.n < sizeof length)
        return false;
    memcpy(&length, m->bytes.data, sizeof length);
    return m->bytes.n == sizeof length + length;
}

static void drop(struct message *m)
{
    free(m->bytes.data);
    *m = (struct message){0};
}

/* The number of varints; a character of a text counts as one. */
static uint64_t count_varints(const uint8_t *data, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !(data[i] & 0x80);
    return count;
}

/* Numbers in a message to the parent. Hashes are 8 bytes each: in counts those of records
 * (record_counts.h), in values those of fields, which each rank sends (lists.h). */
static uint64_t count_numbers(const struct message *m, unsigned kind)
{
    struct pc_cursor c = pc_cursor_over(m->bytes.data, m->bytes.n);
    uint64_t n = 0;
    pc_get_bytes(&c, sizeof(uint64_t)); /* the length of the message */
    if (kind == PROFILE)
        return count_varints(c.at, pc_cursor_left(&c));
    if (kind == COUNTS) {
        enum { OF_LACK = 3, OF_ROW = 5 };
        for (int i = 0; i < OF_LACK; i++)
            pc_get_varint(&c);
        return OF_LACK + OF_ROW * pc_get_varint(&c);
    }
    while (pc_cursor_left(&c)) {
        pc_get_le(&c, 4); /* the rank */
        uint64_t bytes = pc_get_le(&c, 8);
        const uint8_t *data = pc_get_bytes(&c, bytes);
        struct pc_cursor run = pc_cursor_over(data, data ? bytes : 0);
        uint64_t n_fields = pc_get_varint(&run);
        pc_get_varint(&run); /* the number of fields of comm plugins */
        pc_get_bytes(&run, 8 * n_fields);
        n += 4 + n_fields + count_varints(run.at, pc_cursor_left(&run));
    }
    return n;
}

static void run_rank(struct tree *tree, int rank, struct message *choice, struct message *up);

static struct message copy(const struct message *m)
{
    struct message out = {.sent_s = m->sent_s};
    pc_put_bytes(&out.bytes, m->bytes.data, m->bytes.n);
    return out;
}

static void make_counts(struct tree *tree, int rank, struct message *up)
{
    struct message *stored = rank % STORED ? NULL : &tree->stored[rank / STORED];
    if (stored && stored->bytes.n) {
        up[COUNTS] = copy(stored);
        return;
    }
    run_rank(tree, rank, NULL, up);
    if (stored)
        *stored = copy(&up[COUNTS]);
}

/* The message that this rank receives next from a rank; NULL: none. */
static struct message *incoming(struct node *n, int from)
{
    if (is_parent(n, from))
        return n->counts_only ? NULL : n->choice;
    int round = round_of(n, from);
    struct message *m = &n->from[round][n->n_from[round]];
    if (n->counts_only && n->n_from[round] > COUNTS)
        return NULL;
    if (!m->bytes.n && !n->n_from[round])
        make_counts(n->tree, from, n->from[round]);
    else if (!m->bytes.n)
        run_rank(n->tree, from, &n->to[round], n->from[round]);
    return m->bytes.n ? m : NULL;
}

static int send_to(void *self, const void *data, size_t size, int to)
{
    struct node *n = self;
    leave(n);
    bool up = is_parent(n, to), lost = n->counts_only && (!up || n->n_up > COUNTS);
    struct message *m = up ? &n->up[n->n_up] : &n->to[round_of(n, to)];
    if (!lost) {
        pc_put_bytes(&m->bytes, data, size);
        m->sent_s = n->clock_s;
        n->n_up += up && is_whole(m);
        n->tree->public->n_bytes += n->counts_only ? 0 : size;
        if (!n->tree->public->counted_s && !n->transport.rank)
            n->tree->public->counted_s = n->clock_s;
    }
    enter(n);
    return lost ? PC_EIO : PC_OK;
}

static int receive_size(void *self, int from, size_t *n_out)
{
    struct node *n = self;
    leave(n);
    struct message *m = incoming(n, from);
    if (m) {
        *n_out = next_transfer(m);
        /* The counts, which the rank has computed again, arrived before the choice. */
        if (is_parent(n, from) && !m->at)
            n->clock_s = m->sent_s;
        else if (m->sent_s > n->clock_s)
            n->clock_s = m->sent_s;
    }
    enter(n);
    return m ? PC_OK : PC_EIO;
}

static int receive(void *self, void *data, size_t size, int from)
{
    struct node *n = self;
    leave(n);
    struct message *m = incoming(n, from);
    memcpy(data, m->bytes.data + m->at, size);
    m->at += size;
    n->tree->public->n_bytes_0 += n->transport.rank ? 0 : size;
    if (!left(m)) {
        if (!n->transport.rank)
            n->tree->public->n_numbers_0 += count_numbers(m, n->n_from[round_of(n, from)]);
        drop(m);
        n->n_from[round_of(n, from)] += !is_parent(n, from);
    }
    enter(n);
    return PC_OK;
}

/* ---- Ranks ---------------------------------------------------------------------------------- */

static void end(struct node *n, struct pc_profile *sum)
{
    struct merge_tree *m = n->tree->public;
    m->merged_s = n->clock_s;
    m->merge_bytes_0 = n->account.peak;
    enter(n);
    m->end(m->arg, sum);
    leave(n);
    m->ended_s = n->clock_s;
    m->peak_bytes_0 = n->account.peak;
}

static void run_rank(struct tree *tree, int rank, struct message *choice, struct message *up)
{
    struct merge_tree *m = tree->public;
    struct node *n = calloc(1, sizeof *n);
    struct pc_reduced reduced;
    struct pc_error error = {""};
    *n = (struct node){.transport = {.self = n,
                                     .rank = rank,
                                     .n_ranks = (int)m->n_ranks,
                                     .route = &n->route,
                                     .send = send_to,
                                     .receive_size = receive_size,
                                     .receive = receive},
                       .tree = tree,
                       .counts_only = rank && !choice,
                       .choice = choice,
                       .up = up};
    pc_route_by_rank(&n->route, rank, (int)m->n_ranks);
    enter(n);
    struct pc_profile *mine = m->make(m->arg, rank);
    tree->mark_s = now_s();
    int err = pc_merge_reduce(&n->transport, mine, &reduced, &error);
    leave(n);
    if (!n->counts_only && err && !tree->err)
        tree->err = pc_error_set(tree->error, err, "rank %d: %s", rank, error.text);
    if (reduced.share)
        m->share(m->arg, rank, &reduced);
    if (reduced.sum)
        end(n, reduced.sum);
    if (choice && n->account.peak > m->peak_bytes)
        m->peak_bytes = n->account.peak;
    if (choice)
        drop(&up[COUNTS]); /* the parent had them before */
    free(n);
}

int merge_tree_run(struct merge_tree *m, struct pc_error *error)
{
    struct tree tree = {.public = m, .error = error};
    uint32_t n_stored = m->n_ranks / STORED + 1;
    tree.stored = calloc(n_stored, sizeof *tree.stored);
    run_rank(&tree, 0, NULL, NULL);
    for (uint32_t i = 0; i < n_stored; i++)
        drop(&tree.stored[i]);
    free(tree.stored);
    return tree.err;
}
