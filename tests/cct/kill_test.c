/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process may be killed at any instruction: it leaves a valid tree with every call that had been
 * counted. The killed process writes its progress to memory that it shares with the test.
 * PCOLLECT_TEST_KILLS sets the number of kills (30 in the ordinary check).
 */
#include "include/pcollect/plugin.h"
#include "tests/cct/place.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define N_THREADS 2
#define N_OPS 5
#define BINS 40u

/* A record: the number of calls, and their histogram. */
struct record {
    uint64_t calls, bins[PCOLLECT_HIST_WORDS(BINS)];
    char rest[112];
};

/* Calls that a thread has completed, by primitive. */
struct progress {
    _Atomic uint64_t calls[N_OPS];
    _Atomic uint64_t frames;
};

struct victim {
    struct pc_arena *arena;
    struct progress *progress;
    unsigned n;
};

static void count(struct pc_tree *t, struct record *r, uint32_t bin)
{
    uint8_t *low = (uint8_t *)r->bins + bin;
    r->calls++;
    if (!(++*low & 127))
        pc_tree_carry(t, r->bins, BINS);
}

/* Makes calls along random paths until it is killed, in trees of threads that start and end. */
static void *insert_for_ever(void *arg)
{
    struct victim *v = arg;
    uint64_t seed = test_seed(v->n + 1);
    const struct pcollect_module m = {.path_bytes = 20};
    for (unsigned round = 0;; round++) {
        struct pc_tree *t = pc_tree_open(v->arena, (int)v->n, false);
        pcollect_ref module = pc_arena_add_module(v->arena, &m, "/usr/lib/libpath.so.");
        for (unsigned i = 0; i < 200 && t; i++) {
            bool collapsed = false;
            pcollect_ref node = t->root;
            uint32_t depth = i % 2 ? random_below(&seed, 20) : 0; /* half of them at few places */
            for (; depth > 0 && !collapsed; depth--) {
                pcollect_ref child = pc_tree_frame(t, node, module, random_below(&seed, 3));
                collapsed = child == 0;
                node = child ? child : node;
            }
            uint16_t op = (uint16_t)random_below(&seed, N_OPS);
            pc_arena_add_op(v->arena, op, 0, "MPI_Op");
            pcollect_ref ref = pc_tree_op(t, node, op, sizeof(struct record), &collapsed);
            if (!ref)
                continue;
            count(t, pc_tree_record(t, ref),
                  random_below(&seed, 4) ? 9 : random_below(&seed, BINS));
            atomic_fetch_add_explicit(&v->progress[v->n].calls[op], 1, memory_order_release);
        }
        if (t)
            pc_tree_retire(t);
    }
    return NULL;
}

static void be_killed(const char *spool, struct progress *progress, size_t bytes)
{
    static struct pc_arena a;
    static struct victim v[N_THREADS];
    pthread_t id;
    CHECK(pc_arena_open(&a, spool, bytes, NULL) == PC_OK && a.is_file);
    a.header->record_bytes = sizeof(struct record);
    for (unsigned i = 0; i < N_THREADS; i++) {
        v[i] = (struct victim){&a, progress, i};
        if (i > 0)
            CHECK(pthread_create(&id, NULL, insert_for_ever, &v[i]) == 0);
    }
    insert_for_ever(&v[0]);
}

struct found {
    uint64_t calls[N_OPS], bins[N_OPS];
};

static uint64_t sum_of_bins(const struct image *im, struct record *r)
{
    uint64_t sum = 0;
    for (uint32_t bin = 0; bin < BINS; bin++) {
        pcollect_ref ref = pc_hist_refs(r->bins, BINS)[bin / PCOLLECT_HIST_GROUP];
        const uint64_t *wide = ref ? image_at(im, ref) : NULL;
        sum += pcollect_hist_value(((uint8_t *)r->bins)[bin],
                                   wide ? wide[bin % PCOLLECT_HIST_GROUP] : 0);
    }
    return sum;
}

static void count_calls(struct image *im, const struct pcollect_thread *thread,
                        const struct pcollect_node *n, void *arg)
{
    struct found *found = arg;
    (void)thread;
    if (n->kind != PCOLLECT_NODE_OP || n->op >= N_OPS)
        return;
    struct record *r = (struct record *)image_at(im, n->record);
    found->calls[n->op] += r->calls;
    found->bins[n->op] += sum_of_bins(im, r);
}

/* The only arena in the folder; false: the file is not there or was not begun. */
static bool judge(const struct place *place, struct progress *progress, unsigned *n_nodes)
{
    char path[512] = "";
    DIR *d = opendir(place->folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".arena"))
            snprintf(path, sizeof path, "%s/%s", place->folder, e->d_name);
    if (d)
        closedir(d);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return false;
    fstat(fd, &st);
    size_t n = (size_t)st.st_size;
    void *data = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    unlink(path);
    if (data == MAP_FAILED) {
        assert_int_equal(n, 0); /* killed before it had a size */
        return false;
    }
    static const char no_magic[8];
    bool begun = memcmp(data, no_magic, sizeof no_magic) != 0;
    if (begun) {
        struct found found = {0};
        struct image im = {.visit = count_calls, .arg = &found};
        if (!image_walk(&im, data, n))
            fail_msg("%s", im.wrong);
        for (int op = 0; op < N_OPS; op++) {
            uint64_t told = progress[0].calls[op] + progress[1].calls[op];
            /* Each thread may have been killed between its record and its report. */
            assert_in_range(found.calls[op] - told, 0, N_THREADS);
            if (!im.n_collapsed) /* in a full arena wide counts find no room */
                assert_in_range(found.bins[op] - told, 0, N_THREADS);
        }
        *n_nodes = im.n_frames + im.n_op_nodes;
    }
    munmap(data, n);
    return begun;
}

static unsigned kill_once(struct place *place, struct progress *progress, size_t bytes,
                          uint32_t delay_us)
{
    unsigned n_nodes = 0;
    memset(progress, 0, N_THREADS * sizeof *progress);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        be_killed(place->spool, progress, bytes);
    struct timespec pause = {0, (long)delay_us * 1000};
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    judge(place, progress, &n_nodes);
    return n_nodes;
}

static void killed_process_leaves_a_valid_tree(void **state)
{
    SKIP_IF(!*state, "/dev/shm is no tmpfs");
    const char *n = getenv("PCOLLECT_TEST_KILLS");
    unsigned n_kills = n ? (unsigned)atoi(n) : 30, n_grown = 0;
    struct progress *progress = mmap(NULL, N_THREADS * sizeof *progress, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = test_seed(7);
    assert_true(progress != MAP_FAILED);
    for (unsigned i = 0; i < n_kills; i++) {
        /* Small arenas end full, large ones are killed while they grow. */
        size_t bytes = i % 4 == 0 ? PC_ARENA_MIN_BYTES : 256 * MIB;
        n_grown += kill_once(*state, progress, bytes, 300 + random_below(&seed, 12000)) > 100;
    }
    /* A loaded or emulated machine may need longer until the arena has grown. */
    for (uint32_t delay_us = 20000; n_grown == 0 && delay_us < 900000; delay_us *= 2)
        n_grown += kill_once(*state, progress, 256 * MIB, delay_us) > 100;
    assert_true(n_grown > 0);
    munmap(progress, N_THREADS * sizeof *progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_process_leaves_a_valid_tree, place_make,
                                        place_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
