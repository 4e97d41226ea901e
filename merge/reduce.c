/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reduction over the ranks along a tree (route.h), in three steps.
 *
 *  1. Up: the counts of records (record_counts.h). A rank receives those of its children, adds
 *     them, and sends the sum to its parent. If a rank has no room for the records that it would
 *     merge, it says so with them.
 *  2. Down: rank 0 has chosen the records whose values are kept, exact or in steps. Each rank is
 *     told, for each row of the counts that it sent, the place of the record among these, and which
 *     records are not kept apart (fold.h); it learns nothing of other records. If a rank has no
 *     room, rank 0 sends an empty message: then no rank below it sends a profile.
 *  3. Up: profiles with statistics only, which are merged, and the values that are kept (lists.h),
 *     which are put one behind the other. Rank 0 gives its sum the lists. If they are more than one
 *     rank should hold, and the tree is by rank, they go up to the ranks alone that are multiples
 *     of a power of two: each of these makes a share of them (format/value_shares.h), sends its
 *     size in their place, and has the share to write when rank 0 has written the file.
 *
 * An empty message (message.h) says that the sender has no data. A rank that failed, or lost a rank
 * below it, forwards what it has, without its own profile; rank 0 counts the ranks. Every rank
 * sends and receives all messages of all its edges, whatever has failed: so no rank waits for
 * ever. pc_merge_absent (message.c) does the same without a profile.
 */
#include "merge/fold.h"
#include "merge/lists.h"
#include "merge/merge.h"
#include "merge/message.h"
#include "merge/room.h"
#include "merge/route.h"

#include "format/record_rows.h"
#include "format/value_shares.h"

#include <stdlib.h>

/* Values in `share_rounds` if they are not in shares: more than any rank has children. */
enum { NO_SHARES = 31 };

/* Values that one rank holds while it makes a share of them, as lists. With more a share is read in
 * fewer pieces, and a rank takes more memory in MPI_Finalize. */
#define SHARE_BYTES (UINT64_C(16) << 20)

/* Memory that a rank will need while it merges, and that it has; needed 0: it has enough. */
struct lack {
    uint64_t needed, there;
    int32_t rank;
};

struct reduction {
    const struct pc_transport *t;
    const struct pc_route *route;
    struct pc_profile *mine;     /* profile of this rank, then of all below it; NULL: failed */
    uint64_t *keys;              /* keys of the records of this rank */
    struct pc_record_counts all; /* of this rank and all below it; later of those with places */
    struct lack lack;            /* the greatest of this rank and all below it */
    uint64_t left;               /* bytes that this rank has left beside the records */
    struct pc_record_keys child[PC_ROUTE_CHILDREN]; /* of the counts that a child sent */
    uint32_t *places;                               /* by row of `all` */
    struct pc_buffer lists;
    int share_rounds; /* values of 2^share_rounds ranks are a share, or NO_SHARES */
    struct pc_buffer share;
    int err; /* the first error */
    struct pc_error *error;
};

static void note(struct reduction *r, int err)
{
    r->err = r->err ? r->err : err;
}

static void send_bytes(struct reduction *r, const struct pc_buffer *b, int to)
{
    int err = pc_message_send(r->t, b->data, b->failed ? 0 : b->n, to);
    if (b->failed)
        note(r, pc_error_set(r->error, PC_ENOMEM, "no memory for a message to rank %d", to));
    else if (err)
        note(r, pc_error_set(r->error, err, "nothing can be sent to rank %d", to));
}

/* Receives a message and appends it to b; `what` names it in errors. */
static int receive_bytes(struct reduction *r, int from, const char *what, struct pc_buffer *b)
{
    uint64_t n;
    int err = pc_message_size(r->t, from, &n);
    if (err)
        return pc_error_set(r->error, err, "%s of rank %d cannot be received", what, from);
    if (!n)
        return PC_OK;
    uint8_t *data = pc_buffer_extend(b, n);
    err = pc_message_receive(r->t, data, n, from);
    if (!data)
        return pc_error_set(r->error, PC_ENOMEM, "no memory for the %lu bytes of rank %d",
                            (unsigned long)n, from);
    if (err)
        pc_error_set(r->error, err, "%s of rank %d did not arrive", what, from);
    return err;
}

/* ---- 1. The counts -------------------------------------------------------------------------- */

static void count_own(struct reduction *r)
{
    if (!r->mine)
        return;
    r->keys = pc_record_counts_keys(r->mine);
    int err = r->keys ? pc_record_counts_take(r->mine, r->keys, &r->all) : PC_ENOMEM;
    if (err)
        note(r, pc_error_set(r->error, err, "no memory to count records"));
}

static void note_lack(struct reduction *r, const struct lack *lack)
{
    if (lack->needed > lack->there &&
        (!r->lack.needed || lack->needed - lack->there > r->lack.needed - r->lack.there))
        r->lack = *lack;
}

/* Notes it if the records of this rank and all below it do not fit into its memory. If it took
 * more, the kernel would end the process, and so the job. */
static void look_for_room(struct reduction *r)
{
    struct lack lack = {.there = pc_memory_available(), .rank = r->t->rank};
    lack.needed = r->mine ? pc_record_counts_memory(&r->all, r->mine) : 0;
    r->left = lack.there > lack.needed ? lack.there - lack.needed : 0;
    note_lack(r, &lack);
}

static void put_lack(const struct lack *lack, struct pc_buffer *b)
{
    pc_put_varint(b, lack->needed);
    pc_put_varint(b, lack->there);
    pc_put_varint(b, (uint64_t)lack->rank);
}

static int add_counts(struct reduction *r, const struct pc_buffer *b, struct pc_record_keys *keys)
{
    struct pc_cursor c = pc_cursor_over(b->data, b->n);
    struct lack lack = {.needed = pc_get_varint(&c)};
    lack.there = pc_get_varint(&c);
    lack.rank = (int32_t)pc_get_below(&c, INT32_MAX);
    if (c.failed)
        return PC_EFORMAT;
    note_lack(r, &lack);
    return pc_record_counts_add_encoded(&r->all, c.at, pc_cursor_left(&c), keys);
}

static void count_child(struct reduction *r, int i)
{
    struct pc_buffer b = {0};
    int from = r->route->children[i];
    int err = receive_bytes(r, from, "the record counts", &b);
    if (!err && b.n)
        err = add_counts(r, &b, &r->child[i]);
    free(b.data);
    if (err && !r->error->text[0])
        pc_error_set(r->error, err, "the record counts of rank %d: %s", from, pc_err_text(err));
    note(r, err);
}

static void count_all(struct reduction *r)
{
    struct pc_buffer b = {0};
    count_own(r);
    for (int i = 0; i < r->route->n_children; i++)
        count_child(r, i);
    if (r->t->rank == 0 || r->route->n_children) /* it will merge */
        look_for_room(r);
    if (r->t->rank == 0)
        return;
    put_lack(&r->lack, &b);
    pc_record_counts_encode(&r->all, &b);
    send_bytes(r, &b, r->route->parent);
    free(b.data);
}

/* ---- 2. The choice -------------------------------------------------------------------------- */

/* Sends the rounds of a share and the places, whose numbers ascend: each as the distance from the
 * previous one, twice, and whether the record is kept in steps; 0 for none. */
static void send_places(struct reduction *r, const struct pc_record_keys *child, int to)
{
    struct pc_buffer b = {0};
    uint32_t *rows = r->places ? pc_record_counts_find(&r->all, child) : NULL;
    if (rows)
        pc_put_varint(&b, (uint64_t)r->share_rounds);
    for (size_t i = 0, next = 0; rows && i < child->n; i++) {
        uint32_t place = rows[i] == PC_NO_INDEX ? PC_NO_INDEX : r->places[rows[i]];
        bool kept = place != PC_NO_INDEX;
        size_t after = pc_place_number(place) + (size_t)1;
        pc_put_varint(&b, kept ? (after - next) << 1 | pc_place_in_steps(place) : 0);
        next = kept ? after : next;
    }
    if (rows)
        pc_record_counts_put_fates(&r->all, rows, child->n, &b);
    send_bytes(r, &b, to);
    free(rows);
    free(b.data);
}

static void receive_places(struct reduction *r)
{
    struct pc_buffer b = {0};
    int err = receive_bytes(r, r->route->parent, "the choice", &b);
    r->places = malloc(r->all.n * sizeof *r->places + 1);
    struct pc_cursor c = pc_cursor_over(b.data, b.n);
    c.failed = !b.data && r->all.n;
    if (b.data)
        r->share_rounds = (int)pc_get_below(&c, NO_SHARES);
    for (uint64_t i = 0, next = 0; r->places && i < r->all.n; i++) {
        uint64_t more = pc_get_below(&c, (INT32_MAX - next) << 1 | 1);
        next += more >> 1;
        r->places[i] = more >> 1 ? pc_place((uint32_t)(next - 1), more & 1) : PC_NO_INDEX;
    }
    pc_record_counts_get_fates(&r->all, &c);
    if (!err && (!r->places || c.failed))
        err = pc_error_set(r->error, r->places ? PC_EFORMAT : PC_ENOMEM,
                           "rank %d was not told which values to send", r->t->rank);
    if (err) {
        free(r->places);
        r->places = NULL;
    }
    free(b.data);
    note(r, err);
}

/* False, with the reason: a rank has no room for the records that it would merge. */
static bool has_room(struct reduction *r)
{
    const struct lack *lack = &r->lack;
    if (!lack->needed)
        return true;
    note(r,
         pc_error_set(r->error, PC_ENOMEM,
                      "the ranks have %zu different contexts, which would take %lu MiB of memory "
                      "on rank %d, where %lu MiB are available; a smaller [collect] max_depth "
                      "makes fewer, `pcollect recover` can merge where there is more memory",
                      r->all.n, (unsigned long)(lack->needed >> 20), lack->rank,
                      (unsigned long)(lack->there >> 20)));
    return false;
}

static void drop_counts(struct pc_record_counts *c)
{
    free(c->rows);
    *c = (struct pc_record_counts){NULL, 0};
}

/* Bytes of values that rank 0 has room for: they arrive as runs, and are in memory twice while
 * these become lists. */
static uint64_t room_for_values(const struct reduction *r)
{
    return r->left < 2 ? 1 : r->left / 2;
}

/* The bound of values. Those that have none are in shares. */
static struct pc_kept_bound bound_values(const struct reduction *r)
{
    /* Without a profile on this rank there will be no result. */
    struct pc_kept_bound bound = {.bytes = 1};
    if (r->mine)
        bound = (struct pc_kept_bound){r->mine->values_bytes, r->mine->per_rank};
    if (bound.bytes > room_for_values(r))
        bound.bytes = room_for_values(r);
    return bound;
}

/* The rounds of a share, so that it has as many ranks as take no more than SHARE_BYTES, but at
 * least one; NO_SHARES if none is needed. */
static int choose_rounds(const struct reduction *r)
{
    uint64_t most = room_for_values(r) < SHARE_BYTES ? room_for_values(r) : SHARE_BYTES;
    uint64_t all = pc_record_counts_bytes(&r->all, r->places);
    int rounds = r->route->n_children; /* of rank 0: those of all ranks */
    if (all <= most || !rounds || r->route->by_node)
        return NO_SHARES;
    while (--rounds && all / (uint64_t)r->t->n_ranks > most >> rounds)
        ;
    return rounds;
}

static void choose_on_0(struct reduction *r)
{
    if (!has_room(r))
        return;
    struct pc_kept_bound bound = bound_values(r);
    pc_record_counts_fold(&r->all, r->mine ? r->mine->contexts : 0);
    r->places = pc_record_counts_choose(&r->all, &bound);
    if (r->places && !bound.bytes)
        r->share_rounds = choose_rounds(r);
}

static void choose(struct reduction *r)
{
    if (r->t->rank)
        receive_places(r);
    else
        choose_on_0(r);
    for (int i = r->route->n_children; i-- > 0;) {
        send_places(r, &r->child[i], r->route->children[i]);
        free(r->child[i].keys);
    }
}

/* ---- 3. Profiles and values ----------------------------------------------------------------- */

static void put_own(struct reduction *r)
{
    bool puts = r->mine && !r->err;
    uint32_t *places =
        puts ? pc_record_counts_places(&r->all, r->places, r->keys, r->mine->n_data) : NULL;
    if (places)
        pc_lists_put(r->mine, places, &r->lists);
    /* Records that will be added to others are added as bytes. */
    if (puts && (!places || pc_fold(r->mine, &r->all, r->keys) ||
                 (r->route->n_children && !pc_records_pack(r->mine))))
        note(r, pc_error_set(r->error, PC_ENOMEM,
                             "no memory for the values and contexts of rank %d", r->t->rank));
    free(places);
    if (r->err) { /* rank 0 will notice that this rank is missing */
        pc_profile_free(r->mine);
        r->mine = NULL;
    }
}

static void send_profile(struct reduction *r, int to)
{
    struct pc_buffer b = {0};
    int err = r->mine ? pc_profile_encode(r->mine, &b.data, &b.n) : PC_OK;
    if (err) {
        b.n = 0;
        note(r, pc_error_set(r->error, err, "the profile for rank %d: %s", to, pc_err_text(err)));
    }
    send_bytes(r, &b, to);
    free(b.data);
}

/* Adds `theirs` to the sum, and frees it. */
static int add(struct reduction *r, struct pc_profile *theirs, struct pc_error *error)
{
    struct pc_profile *sum = theirs;
    int err = PC_OK;
    if (!theirs)
        return PC_OK;
    if (r->mine) {
        err = pc_profile_merge(r->mine, theirs, &sum, error);
        pc_profile_free(theirs);
        if (err)
            return err;
        pc_profile_free(r->mine);
    }
    r->mine = sum;
    return PC_OK;
}

static void receive_profile(struct reduction *r, int from)
{
    struct pc_profile *theirs = NULL;
    struct pc_buffer b = {0};
    struct pc_error why = {""};
    int err = receive_bytes(r, from, "the profile", &b);
    bool came = !err && b.n;
    if (came)
        err = pc_profile_decode_packed(b.data, b.n, &theirs, &why);
    else
        free(b.data);
    if (came && !err)
        err = add(r, theirs, &why);
    if (came && err)
        pc_error_set(r->error, err, "%s", why.text);
    note(r, err);
}

static bool makes_share(const struct reduction *r)
{
    return r->share_rounds < NO_SHARES && !(r->t->rank & ((1 << r->share_rounds) - 1));
}

/* Leaves where values will be taken the rows by which they are, elsewhere none. */
static void forget_counts(struct reduction *r)
{
    if (r->t->rank && !makes_share(r)) {
        drop_counts(&r->all);
    } else if (r->places) {
        pc_record_counts_keep_places(&r->all, r->places);
        uint32_t *shorter = realloc(r->places, r->all.n * sizeof *shorter + 1);
        r->places = shorter ? shorter : r->places;
    }
}

/* Gives p, a copy of the sum so far, the values that came; places become their numbers. PC_EFORMAT:
 * some did not come. */
static int give_values(struct reduction *r, uint32_t *place_of_record, struct pc_profile *p)
{
    int err = pc_lists_get(p, place_of_record, r->lists.data, r->lists.n);
    for (uint32_t i = 0; !err && i < p->n_data; i++)
        if (place_of_record[i] != PC_NO_INDEX)
            place_of_record[i] = pc_place_number(place_of_record[i]);
    return err;
}

static int encode_share(struct reduction *r)
{
    struct pc_profile *p = NULL;
    uint32_t *places = NULL;
    uint8_t *data;
    size_t n;
    int err = pc_profile_encode(r->mine, &data, &n);
    if (!err)
        err = pc_profile_decode_packed(data, n, &p, NULL);
    if (!err && !(places = pc_lists_places(p, &r->all, r->places)))
        err = PC_ENOMEM;
    if (!err)
        err = give_values(r, places, p);
    if (!err)
        pc_share_encode(p, places, &r->share);
    free(places);
    pc_profile_free(p);
    return r->share.failed ? PC_ENOMEM : err;
}

/* Makes a share of the values of this rank and those below it, and puts its rank and its bytes in
 * their place. */
static void make_share(struct reduction *r)
{
    if (r->mine && r->places) {
        int err = encode_share(r);
        if (err)
            note(r, pc_error_set(r->error, err, "the values of rank %d and others: %s", r->t->rank,
                                 pc_err_text(err)));
    }
    r->lists.n = 0;
    if (!r->err) {
        pc_put_varint(&r->lists, (uint64_t)r->t->rank);
        pc_put_varint(&r->lists, r->share.n);
    }
}

/* Receives from child i and those after it, before child `end`; returns the next one. */
static int receive_from(struct reduction *r, int i, int end)
{
    for (; i < end && i < r->route->n_children; i++) {
        receive_profile(r, r->route->children[i]);
        note(r, receive_bytes(r, r->route->children[i], "the values", &r->lists));
    }
    return i;
}

static void gather(struct reduction *r)
{
    put_own(r);
    forget_counts(r);
    int next = receive_from(r, 0, makes_share(r) ? r->share_rounds : PC_ROUTE_CHILDREN);
    if (makes_share(r))
        make_share(r);
    receive_from(r, next, PC_ROUTE_CHILDREN);
    if (r->t->rank == 0)
        return;
    send_profile(r, r->route->parent);
    send_bytes(r, &r->lists, r->route->parent);
}

/* Lists the shares that ranks have made. */
static int list_shares(const struct reduction *r, struct pc_shares *s)
{
    struct pc_cursor c = pc_cursor_over(r->lists.data, r->lists.n);
    s->n = (uint32_t)(r->t->n_ranks - 1) >> r->share_rounds;
    s->n++;
    s->list = pc_pool_array(r->mine->memory, s->n, sizeof *s->list);
    if (!s->list)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < s->n; i++) {
        s->list[i].first_rank = (int32_t)pc_get_below(&c, INT32_MAX);
        s->list[i].bytes = pc_get_below(&c, INT64_MAX);
        c.failed |= (uint32_t)s->list[i].first_rank != i << r->share_rounds || !s->list[i].bytes;
    }
    return c.failed || c.at != c.end ? PC_EFORMAT : PC_OK;
}

/* Prepares the sum for a file with the shares. */
static int leave_values(struct reduction *r, uint32_t *place_of_record)
{
    struct pc_profile *p = r->mine;
    struct pc_shares *s = pc_pool_array(p->memory, 1, sizeof *s);
    int err = s ? list_shares(r, s) : PC_ENOMEM;
    if (!err)
        err = pc_lists_leave(p, place_of_record);
    if (err)
        return err;
    s->places = pc_pool_array(p->memory, p->n_data, sizeof *s->places);
    if (!s->places)
        return PC_ENOMEM;
    memcpy(s->places, place_of_record, p->n_data * sizeof *s->places);
    p->shares = s;
    return PC_OK;
}

/* Runs on rank 0: a missing rank is an error; otherwise adds the values to the sum. */
static void complete(struct reduction *r)
{
    uint32_t have = r->mine ? r->mine->n_ranks : 0;
    if (!r->err && have != (uint32_t)r->t->n_ranks)
        note(r, pc_error_set(r->error, PC_EMISMATCH, "%u of %d ranks could not be merged",
                             (unsigned)r->t->n_ranks - have, r->t->n_ranks));
    if (r->err)
        return;
    uint32_t *places = pc_lists_places(r->mine, &r->all, r->places);
    int err = !places ? PC_ENOMEM
              : r->share_rounds < NO_SHARES
                  ? leave_values(r, places)
                  : pc_lists_get(r->mine, places, r->lists.data, r->lists.n);
    free(places);
    if (err)
        note(r, pc_error_set(r->error, err, "the values of ranks: %s", pc_err_text(err)));
}

/* The share of this rank for the caller. */
static void hand_over(struct reduction *r, struct pc_reduced *out)
{
    uint32_t last = (uint32_t)r->t->rank + (UINT32_C(1) << r->share_rounds) - 1;
    if (r->err || !r->share.n) {
        free(r->share.data);
        return;
    }
    out->share = r->share.data;
    out->share_bytes = r->share.n;
    out->last_rank = last < (uint32_t)r->t->n_ranks ? (int32_t)last : r->t->n_ranks - 1;
}

void pc_merge_keep_memory(void)
{
    void *volatile block = malloc((size_t)16 << 20);
    free(block);
}

int pc_merge_reduce(const struct pc_transport *t, struct pc_profile *mine, struct pc_reduced *out,
                    struct pc_error *error)
{
    struct pc_error own = {""};
    struct reduction r = {.t = t,
                          .route = t->route,
                          .mine = mine,
                          .share_rounds = NO_SHARES,
                          .error = error ? error : &own};
    *out = (struct pc_reduced){.sum = NULL};
    count_all(&r);
    choose(&r);
    gather(&r);
    if (t->rank == 0)
        complete(&r);
    if (t->rank || r.err)
        pc_profile_free(r.mine);
    else
        out->sum = r.mine;
    hand_over(&r, out);
    drop_counts(&r.all);
    free(r.keys);
    free(r.places);
    free(r.lists.data);
    return r.err;
}
