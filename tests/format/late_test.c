/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Late records of several ranks (a node), and sets of ranks as bytes.
 */
#include "format/build.h"
#include "format/rank_set.h"
#include "tests/folder.h"
#include "tests/format/random_profile.h"

enum { RANKS = 24 };

/* ---- Sets ----------------------------------------------------------------------------------- */

static void sets_of_ranks_come_back(void **state)
{
    struct rng r = {17};
    int32_t ranks[300], back[300];
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct pc_buffer b = {0};
        size_t n = 0, wanted = 1 + rng_below(&r, 60);
        uint32_t at = (uint32_t)rng_below(&r, 50), stride = 1 + (uint32_t)rng_below(&r, 9);
        while (n < wanted) { /* runs of one stride, and what breaks them */
            ranks[n++] = (int32_t)at;
            stride = rng_below(&r, 4) ? stride : 1 + (uint32_t)rng_below(&r, 9);
            at += stride;
        }
        pc_rank_set_put(ranks, n, &b);
        struct pc_cursor c = {.at = b.data, .end = b.data + b.n};
        assert_int_equal(pc_rank_set_get(&c, at, back, n), n);
        assert_memory_equal(ranks, back, n * sizeof *ranks);
        assert_ptr_equal(c.at, b.data + b.n);
        c = (struct pc_cursor){.at = b.data, .end = b.data + b.n};
        assert_int_equal(pc_rank_set_get(&c, (uint32_t)ranks[n - 1], back, n), 0); /* too high */
        c = (struct pc_cursor){.at = b.data, .end = b.data + b.n};
        assert_int_equal(pc_rank_set_get(&c, at, back, n - 1), 0); /* too many */
        free(b.data);
    }
}

static void a_regular_set_is_short(void **state)
{
    int32_t ranks[12500];
    struct pc_buffer b = {0};
    (void)state;
    for (int i = 0; i < 12500; i++)
        ranks[i] = 8 * i;
    struct pc_rank_range all = pc_rank_range_next(ranks, 12500);
    assert_int_equal(all.first, 0);
    assert_int_equal(all.stride, 8);
    assert_int_equal(all.n, 12500);
    pc_rank_set_put(ranks, 12500, &b);
    assert_in_range(b.n, 1, 5);
    free(b.data);
}

static void damaged_sets_never_crash(void **state)
{
    struct rng r = {23};
    uint8_t bytes[40];
    int32_t ranks[100];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t n = rng_below(&r, sizeof bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)rng_below(&r, rng_below(&r, 2) ? 6 : 256);
        struct pc_cursor c = {.at = bytes, .end = bytes + n};
        size_t got = pc_rank_set_get(&c, 1000, ranks, 100);
        for (size_t i = 0; i < got; i++) {
            assert_in_range(ranks[i], 0, 999);
            assert_true(!i || ranks[i] > ranks[i - 1]);
        }
    }
}

/* ---- Records of nodes ----------------------------------------------------------------------- */

/* Nodes of the ranks. */
static int node_of(int layout, int rank)
{
    static const int scattered[] = {0, 0, 1, 2, 0, 1, 1, 1, 2, 0, 2, 2,
                                    1, 0, 2, 1, 1, 2, 0, 0, 0, 2, 1, 2};
    return layout == 0 ? rank / 8 : layout == 1 ? rank % 3 : layout == 2 ? scattered[rank] : 0;
}

/* Writes the late parts of a node, as one of its ranks does. `lacks`: of this one nothing is known.
 */
static void write_node(const char *path, const struct late_job *j, int layout, int node, int lacks)
{
    const struct pc_profile *late[RANKS];
    int32_t ranks[RANKS];
    uint32_t n = 0;
    struct pc_error e = {""};
    for (int rank = 0; rank < RANKS; rank++)
        if (node_of(layout, rank) == node) {
            late[n] = rank == lacks ? NULL : j->late[rank];
            ranks[n++] = rank;
        }
    if (pc_pcol_write_node(path, late, ranks, n, true, &e))
        fail_msg("%s", e.text);
}

static void read_header(const char *path, struct pc_pcol_header *h)
{
    uint8_t bytes[PC_PCOL_HEADER_BYTES];
    FILE *f = fopen(path, "r");
    assert_int_equal(fread(bytes, sizeof bytes, 1, f), 1);
    fclose(f);
    assert_int_equal(pc_pcol_header_decode(bytes, sizeof bytes, h, NULL), PC_OK);
}

static void set_slot_bytes(const char *path, uint32_t slot_bytes)
{
    uint8_t bytes[PC_PCOL_HEADER_BYTES];
    struct pc_pcol_header h;
    read_header(path, &h);
    h.slot_bytes = slot_bytes;
    pc_pcol_header_encode(&h, bytes);
    FILE *f = fopen(path, "r+");
    assert_int_equal(fwrite(bytes, sizeof bytes, 1, f), 1);
    fclose(f);
}

static void a_node_writes_one_record_for_its_ranks(void **state)
{
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[1], RANKS, 2);
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        assert_int_equal(pc_pcol_write(j.main, path_in(path, "n.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                         PC_OK);
        for (int node = 0; node < (layout == 3 ? 1 : 3); node++) {
            write_node(path, &j, layout, node, -1);
            write_node(path, &j, layout, node, -1); /* replaces what was there */
        }
        struct pc_profile *q = must_read(path);
        assert_same_bytes(q, j.whole);
        pc_profile_free(q);
        unlink(path);
    }
    free_late_job(&j);
}

static uint32_t count_running(const char *path)
{
    uint32_t n = RANKS + 1;
    assert_int_equal(pc_pcol_count_running(path, &n, NULL), PC_OK);
    return n;
}

static void ranks_run_until_their_last_part_is_there(void **state)
{
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[1], RANKS, 2);
    (void)state;
    assert_int_equal(pc_pcol_write(j.main, path_in(path, "n.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                     PC_OK);
    assert_int_equal(count_running(path), RANKS);
    write_node(path, &j, 0, 1, -1);
    uint32_t n_ended = RANKS - count_running(path);
    assert_int_equal(n_ended, RANKS / 3);
    assert_int_equal(pc_pcol_write_late(path, j.late[0], false, NULL), PC_OK);
    assert_int_equal(count_running(path), RANKS - n_ended); /* not its last part */
    assert_int_equal(pc_pcol_write_late(path, j.late[0], true, NULL), PC_OK);
    assert_int_equal(count_running(path), RANKS - n_ended - 1);
    for (int node = 0; node < 3; node++)
        write_node(path, &j, 0, node, -1);
    assert_int_equal(count_running(path), 0);
    assert_int_equal(pc_pcol_write(j.whole, path, 0, NULL), PC_OK);
    assert_int_equal(count_running(path), 0); /* there are no slots */
    unlink(path);
    assert_int_equal(pc_pcol_count_running(path, &n_ended, NULL), PC_ENOENT);
    free_late_job(&j);
}

static void who_left_nothing_lacks_alone(void **state)
{
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[1], RANKS, 2);
    struct pc_profile *expected = j.main, *next;
    (void)state;
    assert_int_equal(pc_pcol_write(j.main, path_in(path, "n.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                     PC_OK);
    for (int node = 0; node < 3; node++)
        write_node(path, &j, 1, node, 10);
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank == 10)
            continue;
        next = overlaid(expected, j.late[rank]);
        if (expected != j.main)
            pc_profile_free(expected);
        expected = next;
    }
    struct pc_profile *q = must_read(path);
    assert_same_bytes(q, expected);
    pc_profile_free(q);
    pc_profile_free(expected);
    unlink(path);
    free_late_job(&j);
}

/* The record of a node is damaged: in its content, or in its set of ranks, which then names those
 * of the next node, too. */
static void damage_of_a_record_is_said_of_its_ranks(void **state)
{
    static const struct {
        long at;
        uint8_t change;
    } damages[] = {{80, 4}, {PC_PCOL_SLOT_HEADER_BYTES + 2, 8 ^ 16}};
    struct late_job j = make_late_job(&shapes[1], RANKS, 2);
    struct pc_profile *expected = j.main;
    (void)state;
    for (int rank = 0; rank < RANKS; rank++) {
        if (node_of(0, rank) == 1)
            continue;
        struct pc_profile *next = overlaid(expected, j.late[rank]);
        if (expected != j.main)
            pc_profile_free(expected);
        expected = next;
    }
    for (size_t i = 0; i < PC_ARRAY_LEN(damages); i++) {
        char path[PATH_BYTES];
        struct pc_profile *q;
        struct pc_error e;
        uint8_t byte;
        struct pc_pcol_header h;
        assert_int_equal(pc_pcol_write(j.main, path_in(path, "n.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                         PC_OK);
        for (int node = 0; node < 3; node++)
            write_node(path, &j, 0, node, -1);
        read_header(path, &h);
        FILE *f = fopen(path, "r+");
        fseek(f, (long)(h.slots_at + 8 * h.slot_bytes) + damages[i].at, SEEK_SET);
        assert_int_equal(fread(&byte, 1, 1, f), 1);
        byte ^= damages[i].change;
        fseek(f, -1, SEEK_CUR);
        assert_int_equal(fwrite(&byte, 1, 1, f), 1);
        fclose(f);
        assert_int_equal(pc_pcol_read(path, &q, &e), PC_OK);
        assert_non_null(strstr(e.text, "what 8 of 24 ranks did after the merge is damaged and left "
                                       "out (first: rank 8)"));
        assert_same_bytes(q, expected);
        pc_profile_free(q);
        unlink(path);
    }
    pc_profile_free(expected);
    free_late_job(&j);
}

/* As when memory ran out in all of them, or in all but one. */
static void ranks_without_a_known_part_write_none(void **state)
{
    char path[PATH_BYTES];
    const struct pc_profile *late[RANKS] = {NULL};
    int32_t ranks[RANKS];
    struct late_job j = make_late_job(&shapes[1], RANKS, 2);
    struct pc_error e;
    (void)state;
    for (int rank = 0; rank < RANKS; rank++)
        ranks[rank] = rank;
    assert_int_equal(pc_pcol_write(j.main, path_in(path, "n.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                     PC_OK);
    assert_int_equal(pc_pcol_write_node(path, late, ranks, RANKS, true, &e), PC_ENOMEM);
    assert_non_null(strstr(e.text, "no memory to add what 24 ranks did after the merge"));
    struct pc_profile *q = must_read(path);
    assert_same_bytes(q, j.main);
    pc_profile_free(q);
    /* The set of these ranks is too long for a slot, and nothing is known of their first half. */
    set_slot_bytes(path, 48);
    for (int i = 0; i < 16; i++)
        ranks[i] = i + i / 2;
    late[15] = j.late[22];
    assert_int_equal(ranks[15], 22);
    assert_int_equal(pc_pcol_write_node(path, late, ranks, 16, true, &e), PC_OK);
    q = must_read(path);
    assert_true(q->ranks[22].inside_ns == j.whole->ranks[22].inside_ns);
    pc_profile_free(q);
    unlink(path);
    free_late_job(&j);
}

/* A large job has 64 bytes a rank, or 32 if all nodes have many ranks in regular order. Times of
 * all ranks arrive, calls are there or counted. */
static void what_a_node_has_no_room_for_is_counted(void **state)
{
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[1], RANKS, 20);
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        assert_int_equal(pc_pcol_write(j.main, path_in(path, "n.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                         PC_OK);
        set_slot_bytes(path, layout == 3 ? 32 : 64);
        for (int node = 0; node < (layout == 3 ? 1 : 3); node++)
            write_node(path, &j, layout, node, -1);
        struct pc_profile *q = must_read(path);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_true(q->ranks[rank].inside_ns == j.whole->ranks[rank].inside_ns);
            assert_true(pc_rank_lost(&q->ranks[rank], PCOLLECT_LOST_LATE) > 0);
        }
        assert_int_equal(q->n_nodes, j.main->n_nodes);
        pc_profile_free(q);
        unlink(path);
    }
    free_late_job(&j);
}

/* Room that the file of a large job has for its ends. */
static void slots_of_a_large_job_are_small(void **state)
{
    static const struct {
        uint32_t ranks, a_node;
        uint64_t notes;
        bool mixed; /* the ranks of each node are in no order */
        uint64_t bytes;
    } rows[] = {
        {4, 4, 0, false, 16384},
        {1024, 64, 0, false, 1 << 20},
        {100000, 64, 0, false, 6400000},
        {100000, 128, 0, false, 3200000},
        {100000, 128, 0, true, 6400000},
        {100000, 128, PCOLLECT_NOTE_ANONYMOUS, false, 6400000},
        {128 * 700 + 2, 128, 0, false, 64 * (128 * 700 + 2)}, /* a node of two */
        {100000, 1, 0, false, 51200000},
    };
    char path[PATH_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pc_pcol_header h;
        static char hosts[100000][12];
        struct pc_profile *p = random_profile(&shapes[1], 1, 0, (int)rows[i].ranks);
        struct pc_profile_rank one = p->ranks[0], *all = calloc(rows[i].ranks, sizeof *all);
        for (uint32_t r = 0; r < rows[i].ranks; r++) {
            uint32_t node = r / rows[i].a_node;
            node += rows[i].mixed ? 10000 * (pc_hash_u64(r) % 2) : 0;
            snprintf(hosts[r], sizeof hosts[r], "n%u", node);
            all[r] = one;
            all[r].rank = (int32_t)r;
            all[r].host = hosts[r];
            all[r].notes = r == rows[i].ranks / 2 ? rows[i].notes : 0;
        }
        p->ranks = all;
        p->n_ranks = rows[i].ranks;
        assert_int_equal(pc_pcol_write(p, path_in(path, "s.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                         PC_OK);
        read_header(path, &h);
        assert_int_equal(h.n_slots, rows[i].ranks);
        assert_int_equal((uint64_t)h.slot_bytes * h.n_slots, rows[i].bytes);
        pc_profile_free(p);
        free(all);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_ranks_come_back),
        cmocka_unit_test(a_regular_set_is_short),
        cmocka_unit_test(damaged_sets_never_crash),
        cmocka_unit_test(a_node_writes_one_record_for_its_ranks),
        cmocka_unit_test(ranks_run_until_their_last_part_is_there),
        cmocka_unit_test(who_left_nothing_lacks_alone),
        cmocka_unit_test(damage_of_a_record_is_said_of_its_ranks),
        cmocka_unit_test(ranks_without_a_known_part_write_none),
        cmocka_unit_test(what_a_node_has_no_room_for_is_counted),
        cmocka_unit_test(slots_of_a_large_job_are_small),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
