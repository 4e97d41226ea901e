/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Countings and meters, on page faults and switches that the test causes itself, so that their
 * number is known. A few more faults are allowed, because the system causes some of its own.
 */
#include "counting/counting_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 2000, SLACK = 100 };

#define SOFTWARE(what)                                                                             \
    {                                                                                              \
        .n_terms = 1, .terms = {                                                                   \
            {.type = PERF_TYPE_SOFTWARE, .sign = 1, .config = PERF_COUNT_SW_##what}                \
        }                                                                                          \
    }

enum { FAULTS, MINOR, MAJOR, CLOCK, N_EVENTS };
static const struct pc_counting_event events[N_EVENTS] = {
    [FAULTS] = SOFTWARE(PAGE_FAULTS),
    [MINOR] = SOFTWARE(PAGE_FAULTS_MIN),
    [MAJOR] = SOFTWARE(PAGE_FAULTS_MAJ),
    [CLOCK] = SOFTWARE(CPU_CLOCK),
};

static struct pc_error error;

/* ---- What every test begins and ends with ---------------------------------------------------- */

struct bench {
    struct pc_counting *counting;
    struct pc_counting_meter *meter;
};

static void count(struct bench *b, uint32_t n_events, uint32_t per_group)
{
    const struct pc_counting_what what = {events, n_events, per_group, 0, 0};
    assert_int_equal(pc_counting_set(b->counting, &what, &error), PC_OK);
}

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    if (!b || pc_counting_create(&b->counting, &error))
        return -1;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    if (b->meter)
        pc_counting_stop(b->meter);
    pc_counting_free(b->counting);
    free(b);
    return 0;
}

static void start(struct bench *b, uint32_t group)
{
    if (pc_counting_start(b->counting, &b->meter, group, &error))
        fail_msg("%s", error.text);
}

static struct pc_counting_values get(const struct bench *b)
{
    struct pc_counting_values v;
    memset(&v, 0xff, sizeof v);
    assert_int_equal(pc_counting_get(b->meter, &v), PC_OK);
    return v;
}

/* By direct system calls and not instrumented: sanitizers touch their own memory for each call that
 * they intercept. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void fault(size_t pages)
{
    size_t bytes = pages * 4096, page = (size_t)sysconf(_SC_PAGESIZE);
    long at =
        syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != -1);
    syscall(SYS_madvise, at, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += page)
        ((volatile char *)at)[i] = 1;
    syscall(SYS_munmap, at, bytes);
}

static uint64_t faults_of(size_t pages)
{
    return pages * 4096 / (size_t)sysconf(_SC_PAGESIZE);
}

static void assert_faults(uint64_t got, size_t pages)
{
    assert_in_range(got, faults_of(pages), faults_of(pages) + SLACK);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void events_are_sorted_into_groups(void **state)
{
    static const struct {
        uint32_t n_events, per_group, n_groups;
        uint64_t first, last;
    } rows[] = {
        {0, 0, 1, 0, 0},  {1, 0, 1, 1, 1}, {4, 0, 1, 15, 15}, {4, 1, 4, 1, 8},
        {4, 2, 2, 3, 12}, {4, 3, 2, 7, 8}, {3, 2, 2, 3, 4},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        count(b, rows[i].n_events, rows[i].per_group);
        assert_int_equal(pc_counting_n_groups(b->counting), rows[i].n_groups);
        assert_int_equal(pc_counting_group_events(b->counting, 0), rows[i].first);
        assert_int_equal(pc_counting_group_events(b->counting, rows[i].n_groups - 1), rows[i].last);
        assert_int_equal(pc_counting_group_events(b->counting, rows[i].n_groups), 0);
    }
}

static void what_is_no_event_is_refused(void **state)
{
    struct bench *b = *state;
    struct pc_counting_event bad[2] = {SOFTWARE(PAGE_FAULTS), SOFTWARE(PAGE_FAULTS)};
    bad[1].terms[0].config = 9999;
    uint64_t id = pc_counting_id(b->counting);
    const struct pc_counting_what what = {bad, 2, 0, 0, 0};
    assert_int_equal(pc_counting_set(b->counting, &what, &error), PC_EIO);
    assert_non_null(strstr(error.text, "event 1"));
    assert_int_equal(pc_counting_id(b->counting), id);
    assert_int_equal(pc_counting_try(&bad[1], &error), PC_EIO);
    assert_true(error.text[0] != '\0');
    bad[1].n_terms = 0;
    assert_int_equal(pc_counting_try(&bad[1], &error), PC_EARG);
    assert_int_equal(pc_counting_set(b->counting, &what, &error), PC_EARG);
    const struct pc_counting_what many = {bad, PC_COUNTING_MAX_EVENTS + 1, 0, 0, 0};
    assert_int_equal(pc_counting_set(b->counting, &many, &error), PC_EARG);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* One counting runs all the time, independently of another one of the same thread. */
static void pinned_beside_turns(void **state)
{
    struct bench *b = *state;
    struct bench always = {NULL, NULL};
    const struct pc_counting_what what = {&events[FAULTS], 1, 0, 1, 0};
    assert_int_equal(pc_counting_create(&always.counting, &error), PC_OK);
    assert_int_equal(pc_counting_set(always.counting, &what, &error), PC_OK);
    count(b, N_EVENTS, 1);
    start(&always, 0);
    uint64_t before = get(&always).value[0];
    for (uint32_t g = 0; g < pc_counting_n_groups(b->counting); g++) {
        start(b, g);
        fault(PAGES);
        pc_counting_pause(b->meter);
        fault(PAGES);
    }
    uint64_t n = 2 * pc_counting_n_groups(b->counting) * faults_of(PAGES);
    struct pc_counting_values after = get(&always);
    assert_in_range(after.value[0] - before, n, n + SLACK);
    assert_int_equal(after.enabled_ns, after.running_ns);
    pc_counting_stop(always.meter);
    pc_counting_free(always.counting);
}

static void counts_are_exact(void **state)
{
    struct bench *b = *state;
    count(b, N_EVENTS, 0);
    start(b, 0);
    struct pc_counting_values before = get(b);
    fault(PAGES);
    struct pc_counting_values after = get(b);
    assert_int_equal(after.held, 15);
    assert_faults(after.value[FAULTS] - before.value[FAULTS], PAGES);
    assert_int_equal(after.value[FAULTS] - before.value[FAULTS],
                     after.value[MINOR] - before.value[MINOR] + after.value[MAJOR] -
                         before.value[MAJOR]);
    assert_true(after.anchor > before.anchor);
}

static void nothing_counts_while_paused(void **state)
{
    struct bench *b = *state;
    count(b, 1, 0);
    start(b, 0);
    pc_counting_pause(b->meter);
    struct pc_counting_values before = get(b);
    fault(PAGES);
    assert_int_equal(get(b).value[FAULTS], before.value[FAULTS]);
    start(b, 0);
    fault(PAGES);
    assert_faults(get(b).value[FAULTS] - before.value[FAULTS], PAGES);
}

/* One group counts at a time, and gives no values of the events of others. */
static void groups_take_turns(void **state)
{
    struct bench *b = *state;
    count(b, 2, 1);
    start(b, 0);
    fault(PAGES);
    assert_int_equal(pc_counting_switch(b->meter, 1), PC_OK);
    struct pc_counting_values other = get(b);
    assert_int_equal(other.held, 1 << MINOR);
    assert_true(other.value[FAULTS] == UINT64_MAX); /* untouched */
    assert_true(other.value[MINOR] < SLACK);
    fault(PAGES);
    assert_faults(get(b).value[MINOR], PAGES);
    assert_int_equal(pc_counting_switch(b->meter, 0), PC_OK);
    assert_faults(get(b).value[FAULTS], PAGES);
    assert_int_equal(pc_counting_switch(b->meter, 2), PC_ENOENT);
    assert_int_equal(get(b).group, 0);
}

static void terms_add_with_their_signs(void **state)
{
    struct bench *b = *state;
    struct pc_counting_event derived[2] = {SOFTWARE(PAGE_FAULTS), SOFTWARE(PAGE_FAULTS)};
    for (int i = 0; i < 2; i++) {
        derived[i].n_terms = 2;
        derived[i].terms[1] = events[MINOR].terms[0];
    }
    derived[1].terms[1].sign = -1;
    const struct pc_counting_what what = {derived, 2, 1, 0, 0};
    assert_int_equal(pc_counting_set(b->counting, &what, &error), PC_OK);
    assert_int_equal(pc_counting_n_groups(b->counting), 2);
    start(b, 0);
    fault(PAGES);
    assert_in_range(get(b).value[0], 2 * faults_of(PAGES), 2 * faults_of(PAGES) + 2 * SLACK);
    start(b, 1);
    fault(PAGES);
    assert_true(get(b).value[1] < SLACK);
}

/* ---- Switches do what differs and no more ---------------------------------------------------- */

/* A group that was opened again begins at 0. */
static void only_what_differs_is_opened(void **state)
{
    struct bench *b = *state;
    count(b, 2, 1);
    uint64_t id = pc_counting_id(b->counting);
    start(b, 0);
    fault(PAGES);
    start(b, 1);
    start(b, 0);
    start(b, 0);
    assert_faults(get(b).value[FAULTS], PAGES);
    count(b, 1, 0);
    assert_true(pc_counting_id(b->counting) > id);
    start(b, 0);
    assert_true(get(b).value[FAULTS] < SLACK);
}

/* Counts of a meter under one counting are not booked to another one. */
static void each_context_has_its_own(void **state)
{
    struct bench *b = *state, other = {NULL, NULL};
    struct pc_counting_totals ours, theirs;
    assert_int_equal(pc_counting_create(&other.counting, &error), PC_OK);
    count(b, 1, 0);
    count(&other, 1, 0);
    start(b, 0);
    fault(PAGES);
    assert_int_equal(pc_counting_start(other.counting, &b->meter, 0, &error), PC_OK);
    fault(2 * PAGES);
    pc_counting_dump(b->counting, &ours);
    pc_counting_dump(other.counting, &theirs);
    assert_faults(ours.value[FAULTS], PAGES);
    assert_faults(theirs.value[FAULTS], 2 * PAGES);
    assert_int_equal(ours.n_live, 0);
    assert_int_equal(theirs.n_live, 1);
    start(b, 0);
    pc_counting_free(other.counting);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *count_in_thread(void *state)
{
    struct bench mine = {((struct bench *)state)->counting, NULL};
    start(&mine, 0);
    fault(10);
    pc_counting_stop(mine.meter);
    return NULL;
}

static void run_threads(struct bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, count_in_thread, b), 0);
        pthread_join(thread, NULL);
    }
}

/* Numbers of open descriptors; those of the list itself among them. */
static unsigned open_descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Bytes of the process's address space. */
static uint64_t mapped_bytes(void)
{
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The number of threads that have ended does not change meters, descriptors and memory. A meter is
 * 10 KiB: if each thread left one, the process would grow by 50 MiB and more. */
static void ended_threads_are_kept_as_a_sum(void **state)
{
    enum { GROWTH = 1 << 20 };
    struct bench *b = *state;
    struct pc_counting_totals totals;
    int n = getenv("PCOLLECT_TEST_LONG") ? 100000 : getenv("PC_TEST_EMULATED") ? 500 : 5000;
    count(b, 2, 0);
    run_threads(b, 100);
    unsigned descriptors = open_descriptors();
    uint64_t bytes = mapped_bytes();
    run_threads(b, n - 100);
    assert_int_equal(open_descriptors(), descriptors);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    assert_true(mapped_bytes() <= bytes + GROWTH);
#else
    (void)bytes; /* sanitizers keep what has ended */
#endif
    pc_counting_dump(b->counting, &totals);
    assert_int_equal(totals.n_ended, n);
    assert_int_equal(totals.n_live, 0);
    /* A thread faults on its own stack and thread-local data as well. */
    assert_in_range(totals.value[FAULTS], (uint64_t)n * faults_of(10),
                    (uint64_t)n * (faults_of(10) + SLACK));
    assert_int_equal(totals.held, 3);
}

static void a_new_id_begins_new_totals(void **state)
{
    struct bench *b = *state;
    struct pc_counting_totals totals;
    count(b, 1, 0);
    start(b, 0);
    fault(PAGES);
    count(b, 1, 0);
    pc_counting_dump(b->counting, &totals);
    assert_int_equal(totals.value[FAULTS], 0);
    start(b, 0);
    fault(10);
    pc_counting_dump(b->counting, &totals);
    assert_faults(totals.value[FAULTS], 10);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void descriptors_are_high(void **state)
{
    struct bench *b = *state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int half = limit.rlim_cur > 8192 ? 4096 : (int)limit.rlim_cur / 2;
    int next = dup(0);
    close(next);
    count(b, 4, 1);
    start(b, 0);
    for (uint32_t g = 0; g < 4; g++)
        for (uint32_t i = 0; i < b->meter->open[g].n; i++)
            assert_true(b->meter->open[g].fds[i] >= half);
    assert_int_equal(dup(0), next);
    close(next);
}

struct crowd {
    struct bench *bench;
    pthread_barrier_t barrier;
    _Atomic uint32_t n_groups, n_none;
};

static void *start_in_crowd(void *argument)
{
    struct crowd *crowd = argument;
    struct bench mine = {crowd->bench->counting, NULL};
    struct pc_error why;
    if (pc_counting_start(mine.counting, &mine.meter, 0, &why))
        crowd->n_none++;
    else
        crowd->n_groups += (uint32_t)__builtin_popcount(pc_counting_groups(mine.meter));
    pthread_barrier_wait(&crowd->barrier);
    if (mine.meter)
        pc_counting_stop(mine.meter);
    return NULL;
}

/* More threads than descriptors: a quarter of the limit above 256 is used. */
static void descriptors_are_few(void **state)
{
    enum { THREADS = 64, LIMIT = 512 };
    struct bench *b = *state;
    struct rlimit limit, low;
    pthread_t threads[THREADS];
    struct crowd crowd = {.bench = b};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = (struct rlimit){LIMIT, limit.rlim_max};
    count(b, 4, 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    pthread_barrier_init(&crowd.barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_in_crowd, &crowd), 0);
    pthread_barrier_wait(&crowd.barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setrlimit(RLIMIT_NOFILE, &limit);
    pthread_barrier_destroy(&crowd.barrier);
    assert_int_equal(crowd.n_groups * 2, (LIMIT - 256) / 4);      /* an anchor and an event each */
    assert_int_equal(pc_counting_left(), pc_descriptors_most(4)); /* all are given back */
}

struct retry {
    struct bench *bench;
    int err[3], got;
    struct pc_error why[3];
};

/* Takes place beside another thread: a process with one could raise its limit. */
static void *start_without_descriptors(void *argument)
{
    enum { TOO_FEW = 200 };
    struct retry *r = argument;
    struct bench *b = r->bench;
    struct pc_counting_values v;
    struct rlimit limit, low;
    getrlimit(RLIMIT_NOFILE, &limit);
    low = (struct rlimit){TOO_FEW, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    for (int i = 0; i < 2; i++)
        r->err[i] = pc_counting_start(b->counting, &b->meter, 0, &r->why[i]);
    r->got = pc_counting_get(b->meter, &v);
    setrlimit(RLIMIT_NOFILE, &limit);
    r->err[2] = pc_counting_start(b->counting, &b->meter, 0, &r->why[2]);
    return NULL;
}

static void what_could_not_be_opened_is_tried_again(void **state)
{
    struct retry r = {.bench = *state};
    pthread_t thread;
    count(r.bench, 1, 0);
    start(r.bench, 0);
    count(r.bench, 2, 0);
    assert_int_equal(pthread_create(&thread, NULL, start_without_descriptors, &r), 0);
    pthread_join(thread, NULL);
    assert_int_equal(r.err[0], PC_EIO);
    assert_int_equal(r.err[1], PC_EIO);
    assert_string_equal(r.why[1].text, r.why[0].text);
    assert_int_equal(r.got, PC_EIO);
    assert_int_equal(r.err[2], PC_OK);
    assert_int_equal(pc_counting_groups(r.bench->meter), 1);
}

/* The program has closed a descriptor that it did not open, and opened its own file with that
 * number. */
static void a_stolen_descriptor_is_left_alone(void **state)
{
    struct bench *b = *state;
    struct pc_counting_values v = {.group = 77};
    char byte = 'x';
    int ends[2];
    count(b, 1, 0);
    start(b, 0);
    assert_int_equal(pipe(ends), 0);
    int fd = b->meter->open[0].fds[0];
    assert_int_equal(dup2(ends[0], fd), fd);
    assert_int_equal(write(ends[1], &byte, 1), 1);
    assert_int_equal(pc_counting_get(b->meter, &v), PC_EIO);
    assert_int_equal(v.group, 77);
    pc_counting_pause(b->meter);
    assert_int_equal(pc_counting_switch(b->meter, 0), PC_EIO);
    pc_counting_stop(b->meter);
    b->meter = NULL;
    assert_int_equal(read(fd, &byte, 1), 1); /* it is still the program's */
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

/* A thread that counts until the barrier is passed twice. */
struct beside {
    struct pc_counting *counting;
    pthread_barrier_t barrier;
    int fd;
};

static void *count_beside(void *arg)
{
    struct beside *o = arg;
    struct bench mine = {o->counting, NULL};
    start(&mine, 0);
    o->fd = mine.meter->open[3].fds[1];
    pthread_barrier_wait(&o->barrier);
    pthread_barrier_wait(&o->barrier);
    pc_counting_stop(mine.meter);
    return NULL;
}

static void a_child_gives_back_what_it_got(void **state)
{
    struct bench *b = *state;
    struct beside other = {.counting = b->counting};
    pthread_t thread;
    int status;
    count(b, 4, 1);
    start(b, 0);
    int fd = b->meter->open[3].fds[1];
    pthread_barrier_init(&other.barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, count_beside, &other), 0);
    pthread_barrier_wait(&other.barrier);
    pid_t child = fork();
    if (child == 0) {
        pc_counting_forget();
        _exit((dup(fd) >= 0) + 2 * (dup(other.fd) >= 0));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pthread_barrier_wait(&other.barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&other.barrier);
    fault(PAGES);
    assert_true(get(b).value[FAULTS] >= faults_of(PAGES));
}

/* A container's filter refuses the call: the text says so, and does not name the machine as the
 * cause. */
static void a_filter_is_named(void **state)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {PC_ARRAY_LEN(filter), filter};
    int status;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct pc_counting *c;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            _exit(77);
        _exit(pc_counting_create(&c, &error) != PC_EIO || !strstr(error.text, "seccomp"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}

/* ---- Views and names ------------------------------------------------------------------------- */

/* A child that touches pages on request, also in a process that it starts. */
static pid_t start_child(int *tell, int *told)
{
    int in[2], out[2];
    assert_int_equal(pipe(in) | pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        char c;
        if (read(in[0], &c, 1) != 1)
            _exit(1);
        fault(PAGES);
        pid_t own = fork();
        if (own == 0) {
            fault(PAGES);
            _exit(0);
        }
        waitpid(own, NULL, 0);
        _exit(write(out[1], "", 1) != 1 || read(in[0], &c, 1) != 1);
    }
    *tell = in[1];
    *told = out[0];
    return child;
}

static void a_view_counts_another_process(void **state)
{
    struct bench *b = *state;
    const struct pc_counting_what what = {events, N_EVENTS, 2, 0, 1};
    struct pc_counting_view *view;
    struct pc_counting_values v[2];
    char c;
    int tell, told;
    assert_int_equal(pc_counting_set(b->counting, &what, &error), PC_OK);
    assert_int_equal(pc_counting_start(b->counting, &b->meter, 0, &error), PC_EARG);
    assert_int_equal(pc_counting_n_groups(b->counting), 2);
    pid_t child = start_child(&tell, &told);
    const struct pc_counting_viewee who = {.tid = child, .cpu = -1};
    assert_int_equal(pc_counting_view_open(b->counting, &who, &view, &error), PC_OK);
    pc_counting_view_switch(view, 0);
    assert_int_equal(write(tell, "", 1), 1);
    assert_int_equal(read(told, &c, 1), 1);
    pc_counting_view_switch(view, 1);
    fault(PAGES); /* of another process */
    for (uint32_t g = 0; g < 2; g++)
        assert_int_equal(pc_counting_view_get(view, g, &v[g]), PC_OK);
    assert_int_equal(v[0].held | v[1].held, (1u << N_EVENTS) - 1);
    assert_in_range(v[0].value[FAULTS], 2 * faults_of(PAGES), 2 * faults_of(PAGES) + 8 * SLACK);
    assert_true(v[0].running_ns > 0 && v[1].value[MAJOR] == 0);
    pc_counting_view_close(view);
    assert_int_equal(write(tell, "", 1), 1);
    waitpid(child, NULL, 0);
    assert_int_equal(pc_counting_view_open(b->counting, &who, &view, &error), PC_ENOENT);
}

static void tracepoints_are_told_from_wrong_names(void **state)
{
    static const struct {
        const char *name;
        bool is;
    } rows[] = {
        {"sched:sched_switch", true},
        {"syscalls:sys_enter_read", true},
        {"9p:9p_client_req", true},
        {"sched", false},
        {"sched:", false},
        {":sched", false},
        {"cycels:u", false},
        {"cycels:uk", false},
        {"perf::page-faults", false},
        {"PAPI_TOT_INS:precise", false},
        {"nowhere/config=1/", false},
        {"mem:0x1234", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        assert_int_equal(pc_counting_is_tracepoint(rows[i].name), rows[i].is);
}

static void second_names_have_a_first(void **state)
{
    static const struct {
        const char *name, *first;
    } rows[] = {
        {"cs", "context-switches"}, {"faults:u", "page-faults"},
        {"cpu-cycles:k", "cycles"}, {"branch-instructions", "branches"},
        {"page-faults", NULL},      {"fault", NULL},
        {"cs/config=1/", NULL},     {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        const char *first = pc_counting_first_name(rows[i].name);
        if (rows[i].first)
            assert_string_equal(first, rows[i].first);
        else
            assert_null(first);
    }
}

static void names_are_encodings(void **state)
{
    static const struct {
        const char *name;
        uint32_t type, config, user, kernel;
        int err;
    } rows[] = {
        {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0, PC_OK},
        {"instructions:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1, 0, PC_OK},
        {"cycles:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 1, PC_OK},
        {"cycles:uk", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, PC_OK},
        {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 0, PC_OK},
        {"faults:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0, PC_OK},
        {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, PC_OK},
        {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0, PC_OK},
        {"cgroup-switches", PERF_TYPE_SOFTWARE, 11, 0, 0, PC_OK},
        {"L1-dcache-loads", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, 0, 0, PC_OK},
        {"L1-icache-load-misses", PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_L1I | PERF_COUNT_HW_CACHE_RESULT_MISS << 16, 0, 0, PC_OK},
        {"LLC-stores", PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_WRITE << 8, 0, 0, PC_OK},
        {"dTLB-prefetch-misses:u", PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 |
             PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
         1, 0, PC_OK},
        {"node-loads", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE, 0, 0, PC_OK},
        {"LLC-misses", 0, 0, 0, 0, PC_ENOENT},
        {"r1A8", PERF_TYPE_RAW, 0x1a8, 0, 0, PC_OK},
        {"r1a8:u", PERF_TYPE_RAW, 0x1a8, 1, 0, PC_OK},
        {"r", 0, 0, 0, 0, PC_ENOENT},
        {"r1g", 0, 0, 0, 0, PC_ENOENT},
        {"r123456789abcdef01", 0, 0, 0, 0, PC_ENOENT},
        {"software/config=0x2/", PERF_TYPE_SOFTWARE, 2, 0, 0, PC_OK},
        {"software/config=2/u", PERF_TYPE_SOFTWARE, 2, 1, 0, PC_OK},
        {"cpu-clock:uk", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0, PC_OK},
        {"cpu-clock:u", 0, 0, 0, 0, PC_EARG},
        {"task-clock:k", 0, 0, 0, 0, PC_EARG},
        {"software/config=1/u", 0, 0, 0, 0, PC_EARG},
        {"cycles:", 0, 0, 0, 0, PC_EARG},
        {"cycles:x", 0, 0, 0, 0, PC_EARG},
        {"software/config=/", 0, 0, 0, 0, PC_EARG},
        {"software/config=2x/", 0, 0, 0, 0, PC_EARG},
        {"software/conf=2/", 0, 0, 0, 0, PC_EARG},
        {"software/../type/", 0, 0, 0, 0, PC_EARG},
        {"../software/config=2/", 0, 0, 0, 0, PC_EARG},
        {"software/", 0, 0, 0, 0, PC_EARG},
        {"/", 0, 0, 0, 0, PC_EARG},
        {"page-fault", 0, 0, 0, 0, PC_ENOENT},
        {"", 0, 0, 0, 0, PC_ENOENT},
    };
    (void)state;
    bool sysfs = access("/sys/bus/event_source/devices/software/type", R_OK) == 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        struct pc_counting_event e = {.n_terms = 0};
        if (!sysfs && strchr(rows[i].name, '/') && !rows[i].err)
            continue;
        assert_int_equal(pc_counting_named(rows[i].name, &e, &error), rows[i].err);
        if (rows[i].err)
            continue;
        assert_int_equal(e.n_terms, 1);
        assert_int_equal(e.terms[0].sign, 1);
        assert_int_equal(e.terms[0].type, rows[i].type);
        assert_int_equal(e.terms[0].config, rows[i].config);
        assert_int_equal(e.terms[0].user_only, rows[i].user);
        assert_int_equal(e.terms[0].kernel_only, rows[i].kernel);
    }
    assert_string_equal(pc_counting_kernel_name(0), "task-clock");
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ROW(events_are_sorted_into_groups),
        ROW(what_is_no_event_is_refused),
        ROW(counts_are_exact),
        ROW(nothing_counts_while_paused),
        ROW(groups_take_turns),
        ROW(pinned_beside_turns),
        ROW(terms_add_with_their_signs),
        ROW(only_what_differs_is_opened),
        ROW(each_context_has_its_own),
        ROW(ended_threads_are_kept_as_a_sum),
        ROW(a_new_id_begins_new_totals),
        ROW(descriptors_are_high),
        ROW(descriptors_are_few),
        ROW(what_could_not_be_opened_is_tried_again),
        ROW(a_stolen_descriptor_is_left_alone),
        ROW(a_child_gives_back_what_it_got),
        ROW(a_filter_is_named),
        ROW(a_view_counts_another_process),
        ROW(tracepoints_are_told_from_wrong_names),
        ROW(second_names_have_a_first),
        ROW(names_are_encodings),
    };
    struct pc_counting *counting;
    if (pc_counting_create(&counting, &error)) {
        printf("1..0 # SKIP %s\n", error.text);
        return 0;
    }
    pc_counting_free(counting);
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
