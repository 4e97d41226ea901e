/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arenas are copied while threads of another process write to them: each copy is complete, and
 * contains all that had been counted at its begin and no more than at its end. The writer stores
 * its progress in memory that it shares with the test. Modules, primitives and regions are new in
 * bursts, as in a program that opens libraries. PCOLLECT_TEST_LONG: more writers.
 */
#include "include/pcollect/plugin.h"
#include "merge/merge.h"
#include "tests/merge/unpacked.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 3, N_OPS = 40, COPIES = 20, BINS = 16 };

/* A record: the number of calls, and their histogram. */
struct record {
    uint64_t calls, bins[PCOLLECT_HIST_WORDS(BINS)];
};

/* Calls that a thread has completed, and the values that it has added to rows. */
struct progress {
    _Atomic uint64_t calls, rows;
};

static struct progress *progress;
static char spool[64];
static struct pc_arena arena;
static pcollect_ref table;
/* Copies whose histograms were compared, and those in which these are as the calls but for what is
 * counted while one record is read; in one the reader may have been interrupted there. */
static unsigned n_judged, n_close;

/* ---- The writer ------------------------------------------------------------------------------ */

static void publish(void)
{
    struct pcollect_plugin_rec plugin = {
        .record_bytes = sizeof(struct record), .n_fields = 2, .name = "test"};
    struct pcollect_field_rec fields[] = {
        {.name = "calls", .combine = PCOLLECT_SUM, .unit = PCOLLECT_UNIT_COUNT},
        {.name = "sizes",
         .combine = PCOLLECT_HIST,
         .unit = PCOLLECT_UNIT_BYTES,
         .bins = BINS,
         .offset = offsetof(struct record, bins)}};
    struct pcollect_table_rec rec = {.n_keys = 2, .n_values = 1, .name = "rows", .plugin = "test"};
    struct pcollect_column_rec columns[] = {
        {.name = "context", .type = PCOLLECT_COLUMN_NODE, .unit = PCOLLECT_UNIT_COUNT},
        {.name = "number", .type = PCOLLECT_COLUMN_NUMBER, .unit = PCOLLECT_UNIT_COUNT},
        {.name = "sum",
         .type = PCOLLECT_COLUMN_NUMBER,
         .combine = PCOLLECT_SUM,
         .unit = PCOLLECT_UNIT_COUNT}};
    struct pcollect_arena_header *h = arena.header;
    h->record_bytes = h->comm_bytes = sizeof(struct record);
    h->n_ranks = 1;
    h->job_key = 1;
    h->ticks_0 = h->mono_0_ns = 1;
    h->ticks_1 = h->mono_1_ns = 2;
    h->init_begin_ticks = 1;
    h->realtime_0_ns = 1;
    pc_arena_add_plugin(&arena, &plugin, fields);
    table = pc_arena_add_table(&arena, &rec, columns);
}

static pcollect_ref new_module(unsigned i)
{
    char path[40];
    snprintf(path, sizeof path, "/lib/number-%u.so", i);
    const struct pcollect_module m = {.identity = i, .path_bytes = (uint32_t)strlen(path)};
    return pc_arena_add_module(&arena, &m, path);
}

static pcollect_ref new_region(struct pc_tree *t, unsigned i)
{
    char name[40];
    size_t n = (size_t)snprintf(name, sizeof name, "region %u", i);
    if (!pc_arena_string(&arena, name, n))
        return 0;
    return pc_tree_part(t, t->root, PCOLLECT_NODE_REGION, pc_hash_bytes(name, n, 0));
}

/* Books calls; most of them are in one bin. */
static void book(struct pc_tree *t, pcollect_ref op, unsigned calls, uint64_t *seed,
                 struct progress *p)
{
    struct record *r = pc_tree_record(t, op);
    for (unsigned i = 0; i < calls; i++) {
        uint8_t *low = (uint8_t *)r->bins + (i % 4 ? 3 : random_below(seed, BINS));
        r->calls++;
        if (!(++*low & 127))
            __atomic_fetch_add(&arena.header->lost[PCOLLECT_LOST_BINS],
                               pc_tree_carry(t, r->bins, BINS), __ATOMIC_RELAXED);
        pc_tree_thread(t)->mpi_calls++;
        atomic_fetch_add_explicit(&p->calls, 1, memory_order_release);
    }
}

static void call(struct pc_tree *t, pcollect_ref from, pcollect_ref module, uint16_t op,
                 uint64_t *seed, struct progress *p)
{
    bool collapsed = false;
    pcollect_ref node = from;
    for (uint32_t depth = random_below(seed, 12); depth > 0 && !collapsed; depth--) {
        pcollect_ref child = pc_tree_frame(t, node, module, random_below(seed, 3));
        collapsed = child == 0;
        node = child ? child : node;
    }
    pc_arena_add_op(&arena, op, 0, "MPI_Op");
    pcollect_ref ref = pc_tree_op(t, node, op, sizeof(struct record), &collapsed);
    if (!ref)
        return;
    book(t, ref, 1, seed, p);
    const uint64_t keys[] = {ref, random_below(seed, 2)};
    uint64_t *row = pc_tree_row(t, table, 2, 1, keys);
    if (row) {
        *row += 1;
        atomic_fetch_add_explicit(&p->rows, 1, memory_order_release);
    }
}

/* Calls one primitive so often that its bins go round while they are copied. */
static void call_often(struct pc_tree *t, uint64_t *seed, struct progress *p)
{
    bool collapsed = false;
    pc_arena_add_op(&arena, 0, 0, "MPI_Op");
    pcollect_ref ref = pc_tree_op(t, t->root, 0, sizeof(struct record), &collapsed);
    if (ref)
        book(t, ref, 5000, seed, p);
}

/* Works in trees of threads that start and end; new modules, primitives and regions come in
 * bursts. */
static void *write_for_ever(void *arg)
{
    struct progress *p = arg;
    unsigned thread = (unsigned)(p - progress);
    uint64_t seed = test_seed(thread + 1);
    pcollect_ref module = new_module(thread);
    for (unsigned round = 0;; round++) {
        struct timespec nap = {0, 50000};
        struct pc_tree *t = pc_tree_open(&arena, (int)thread, false);
        bool burst = round % 400 < 100;
        unsigned news = (round / 400 * 100 + (burst ? round % 400 : 99)) * N_THREADS + thread;
        pcollect_ref newer = burst ? new_module(news) : 0;
        module = newer ? newer : module; /* where there is room for it */
        pcollect_ref from = t && round % 3 == 0 ? new_region(t, news) : 0;
        for (unsigned i = 0; i < 20 && t; i++)
            call(t, from ? from : t->root, module,
                 (uint16_t)random_below(&seed, news < N_OPS ? news + 1 : N_OPS), &seed, p);
        if (t) {
            if (round % 8 == 0 && !burst)
                call_often(t, &seed, p);
            pc_tree_retire(t);
        }
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void be_writer(size_t bytes)
{
    pthread_t id;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pc_arena_open(&arena, spool, bytes, NULL) != PC_OK || !arena.is_file)
        _exit(1);
    publish();
    for (unsigned i = 1; i < N_THREADS; i++)
        if (pthread_create(&id, NULL, write_for_ever, &progress[i]))
            _exit(1);
    write_for_ever(&progress[0]);
}

/* ---- The judge ------------------------------------------------------------------------------- */

static uint64_t all_calls(void)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < N_THREADS; i++)
        n += atomic_load_explicit(&progress[i].calls, memory_order_acquire);
    return n;
}

static uint64_t all_rows(void)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < N_THREADS; i++)
        n += atomic_load_explicit(&progress[i].rows, memory_order_acquire);
    return n;
}

static void find_arena(pid_t writer, char path[PCOLLECT_PATH_BYTES])
{
    struct pc_merge_list list = {NULL, 0, 0};
    char folder[128];
    snprintf(folder, sizeof folder, "%s/pcollect-%u", spool, (unsigned)geteuid());
    *path = '\0';
    while (!all_calls()) {
        assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
        usleep(1000);
    }
    assert_int_equal(pc_merge_list_add(&list, folder, NULL, NULL, NULL), PC_OK);
    assert_int_equal(list.n, 1);
    snprintf(path, PCOLLECT_PATH_BYTES, "%s", list.found[0].path);
    pc_merge_list_free(&list);
}

static uint64_t bins_sum(const struct pc_profile *p)
{
    uint64_t sum = 0;
    assert_string_equal(p->fields[1].name, "sizes");
    for (uint32_t i = 0; i < p->n_data; i++)
        for (unsigned k = 0; k < BINS; k++)
            sum += pc_data_bins(p, &p->data[i], 1)[k];
    return sum;
}

static uint64_t contexts_sum(const struct pc_profile *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += (uint64_t)pc_data_stat(p, &p->data[i], 0).sum;
    return sum;
}

static uint64_t rows_sum(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "rows");
    uint64_t sum = 0;
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        assert_int_not_equal(pc_table_cell(t, i, 0), 0);
        sum += pc_table_cell(t, i, 2);
    }
    return sum;
}

/* All modules, primitives and regions of contexts are in the profile. */
static void judge_names(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (p->nodes[i].kind == PCOLLECT_NODE_FRAME)
            assert_int_not_equal(p->nodes[i].module, PC_NO_INDEX);
        if (p->nodes[i].kind == PCOLLECT_NODE_REGION)
            assert_non_null(pc_profile_region(p, p->nodes[i].offset));
    }
}

static void judge_mark(const struct pc_profile *p, const struct pc_merge_copy *copy)
{
    const struct pc_profile_table *t = pc_profile_table(p, PC_TABLE_CHECKPOINT);
    assert_non_null(t);
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(pc_table_cell(t, 0, pc_table_column(t, "taken", PCOLLECT_COLUMN_NUMBER)),
                     copy->taken_ns);
    assert_int_equal(p->ranks[0].incomplete, 1);
}

static void judge_copy(const char *path)
{
    struct pc_merge_copy copy;
    struct pc_profile *sum_of_one = NULL;
    struct pc_error error = {""};
    uint64_t calls = all_calls(), rows = all_rows();
    if (pc_merge_copy(path, true, &copy, &error))
        fail_msg("%s", error.text);
    uint64_t calls_after = all_calls() + N_THREADS, rows_after = all_rows() + N_THREADS;
    if (pc_merge_copies(&copy, 1, &sum_of_one, &error) || error.text[0])
        fail_msg("%s", error.text);
    struct pc_profile *p = unpacked(sum_of_one);
    pc_profile_free(sum_of_one);
    assert_false(p->ranks[0].notes & PCOLLECT_NOTE_DAMAGED);
    uint64_t sum = contexts_sum(p);
    assert_in_range(sum, calls, calls_after);
    assert_in_range(rows_sum(p), rows, rows_after);
    if (!pc_rank_lost(&p->ranks[0],
                      PCOLLECT_LOST_BINS)) { /* in a full arena: tests/cct/bins_test.c */
        n_judged++;
        uint64_t bins = bins_sum(p);
        assert_in_range(bins, calls, calls_after);
        n_close += (bins > sum ? bins - sum : sum - bins) < 200;
    }
    /* Each thread may be between its record and its total. */
    assert_in_range(p->ranks[0].mpi_calls + N_THREADS, sum, calls_after + N_THREADS);
    judge_names(p);
    judge_mark(p, &copy);
    pc_profile_free(p);
    free(copy.data);
}

static void copies_are_whole_at_any_instant(void **state)
{
    (void)state;
    unsigned n_writers = test_is_long() ? 40 : 2;
    for (unsigned i = 0; i < n_writers; i++) {
        char path[PCOLLECT_PATH_BYTES];
        int status;
        memset(progress, 0, N_THREADS * sizeof *progress);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) /* small ones are full soon */
            be_writer(i % 2 ? PC_ARENA_MIN_BYTES : (size_t)16 << 20);
        find_arena(pid, path);
        for (unsigned k = 0; k < COPIES; k++) {
            judge_copy(path);
            usleep(2000); /* the first ones have hardly begun */
        }
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        unlink(path);
    }
    assert_true(n_judged > 0 && n_close + 1 >= n_judged);
}

static void what_is_no_arena_is_refused(void **state)
{
    (void)state;
    struct pc_merge_copy copy;
    struct pc_error error = {""};
    char path[128];
    snprintf(path, sizeof path, "%s/none.arena", spool);
    assert_int_equal(pc_merge_copy(path, true, &copy, &error), PC_ENOENT);
    assert_non_null(strstr(error.text, "No such file"));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (unsigned i = 0; i < 20000; i++)
        fputc('x', f);
    fclose(f);
    assert_int_equal(pc_merge_copy(path, true, &copy, &error), PC_EFORMAT);
    unlink(path);
}

/* The file is longer than all addresses, as an arena may be under a limit of them. */
static void no_addresses_for_a_copy_are_no_memory(void **state)
{
    (void)state;
    static const struct pcollect_arena_header h = {.magic = PCOLLECT_ARENA_MAGIC};
    struct pc_merge_copy copy;
    struct pc_error error = {""};
    char path[128];
    snprintf(path, sizeof path, "%s/long.arena", spool);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(&h, sizeof h, 1, f), 1);
    fclose(f);
    bool made = truncate(path, (off_t)1 << 58) == 0;
    int err = pc_merge_copy(path, true, &copy, &error);
    unlink(path);
    if (!made)
        skip(); /* the file system has no files of this length */
    assert_int_equal(err, PC_ENOMEM);
    assert_non_null(strstr(error.text, "no memory for 288230376151711744 bytes"));
}

static int make_spool(void **state)
{
    (void)state;
    const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(spool, sizeof spool, "%s/pcollect-test-XXXXXX", tmp);
    progress = mmap(NULL, N_THREADS * sizeof *progress, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return progress != MAP_FAILED && mkdtemp(spool) ? 0 : -1;
}

static int remove_spool(void **state)
{
    (void)state;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/pcollect-%u", spool, (unsigned)geteuid());
    rmdir(folder);
    return rmdir(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_whole_at_any_instant),
        cmocka_unit_test(what_is_no_arena_is_refused),
        cmocka_unit_test(no_addresses_for_a_copy_are_no_memory),
    };
    return cmocka_run_group_tests(tests, make_spool, remove_spool);
}
