/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens the threads of this process while they follow each other; reads files of /proc, and those
 * that cannot be read; finds the process that is a rank.
 */
#include "analysis/allocation.h"
#include "watch/watch.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Threads that follow each other ---------------------------------------------------------- */

/* A thread waits for its order, starts the next one if it shall, and ends. */
static sem_t begun, order;
static bool shall_start;
static int newest;

static void *relay(void *arg)
{
    pthread_t next;
    newest = (int)syscall(SYS_gettid);
    sem_post(&begun);
    sem_wait(&order);
    if (shall_start && (pthread_create(&next, NULL, relay, arg) || pthread_detach(next)))
        return arg;
    return NULL;
}

static bool has_ended(int tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d", tid);
    return access(path, F_OK) != 0;
}

/* Has the newest thread start another one, if it shall, and end. */
static void hand_over(bool start)
{
    int tid = newest;
    shall_start = start;
    sem_post(&order);
    if (start)
        sem_wait(&begun);
    while (!has_ended(tid))
        usleep(1000);
}

struct opened {
    int tids[16];
    size_t n;
    int n_begun, most_starts, n_starts;
};

static int begin(void *arg)
{
    struct opened *o = arg;
    o->n = 0;
    o->n_begun++;
    return 0;
}

static int open_one(void *arg, int tid)
{
    struct opened *o = arg;
    assert_true(o->n < sizeof o->tids / sizeof *o->tids);
    o->tids[o->n++] = tid;
    if (tid == newest && o->n_starts < o->most_starts) {
        o->n_starts++;
        hand_over(true);
    }
    return 0;
}

static int refuse(void *arg, int tid)
{
    (void)arg;
    return tid == newest ? 7 : 0;
}

/* The number of threads stays the same. */
static void threads_that_follow_each_other_are_all_opened(void **state)
{
    (void)state;
    static const struct {
        int most_starts, n_begun;
        bool all;
    } cases[] = {{0, 1, true}, {1, 2, true}, {5, 6, true}, {1000, 20, false}};
    pthread_t first;
    const int pid = getpid();
    size_t n_others; /* the main thread, and one of a sanitizer or an emulator */
    assert_int_equal(sem_init(&begun, 0, 0) | sem_init(&order, 0, 0), 0);
    assert_int_equal(pthread_create(&first, NULL, relay, NULL), 0);
    pthread_detach(first);
    sem_wait(&begun);
    pct_free(pct_watch_threads(pid, &n_others));
    n_others--;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opened o = {.most_starts = cases[i].most_starts};
        const struct pct_thread_opener opener = {begin, open_one, &o};
        bool all = !cases[i].all;
        assert_int_equal(pct_watch_open_threads(&pid, 1, &opener, &all), 0);
        assert_int_equal(all, cases[i].all);
        assert_int_equal(o.n_begun, cases[i].n_begun);
        assert_int_equal(o.n, n_others + 1);
        assert_int_equal(o.tids[0], pid);
        assert_int_equal(o.tids[n_others] == newest, all);
    }
    bool all;
    struct opened o = {.n = 0};
    assert_int_equal(
        pct_watch_open_threads(&pid, 1, &(struct pct_thread_opener){begin, refuse, &o}, &all), 7);
    assert_int_equal(o.n_begun, 1);
    hand_over(false);
}

/* ---- Files of /proc -------------------------------------------------------------------------- */

static void a_file_that_cannot_be_read_gives_no_text(void **state)
{
    (void)state;
    size_t n = 0;
    char *text = pct_watch_file(getpid(), "comm", &n);
    assert_non_null(text);
    assert_true(n > 1 && strlen(text) == n && text[n - 1] == '\n');
    pct_free(text);
    errno = 0;
    assert_null(pct_watch_file(getpid(), "none", &n));
    assert_int_equal(errno, ENOENT);
    errno = 0;
    assert_null(pct_watch_file(getpid(), "mem", &n)); /* nothing is at address 0 */
    assert_int_equal(errno, EIO);
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

/* Starts a shell of that path as rank 0 of a job, which starts a program as rank 0. Returns the
 * shell's pid; *program: the other's. */
static int start_rank(const char *shell, char *job, int *program)
{
    char *const environment[] = {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "PMIX_RANK=0",
                                 job, NULL};
    int ends[2];
    char text[32] = "";
    assert_int_equal(pipe(ends), 0);
    int pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execle(shell, "sh", "-c", "/bin/sleep 100 & echo $!; wait", (char *)NULL, environment);
        _exit(1);
    }
    assert_true(read(ends[0], text, sizeof text - 1) > 1);
    *program = atoi(text);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

/* The shell lies in a folder whose name begins like that of an MPI library. */
static void a_folder_is_no_mpi_library(void **state)
{
    (void)state;
    char folder[] = "/tmp/pc-test-XXXXXX", command[128], shell[64];
    struct pct_watched_job job = {.world = -1};
    struct pc_error error;
    int program;
    assert_non_null(mkdtemp(folder));
    snprintf(shell, sizeof shell, "%s/libmpi-tools/sh", folder);
    snprintf(command, sizeof command, "mkdir %s/libmpi-tools && cp -L /bin/sh %s", folder, shell);
    assert_int_equal(system(command), 0);
    int pid = start_rank(shell, "PMIX_NAMESPACE=1", &program);
    assert_int_equal(pct_watch_add(&job, getpid(), &error), PC_OK);
    size_t n = job.n;
    int found = n ? job.processes[0].pid : 0;
    pct_watch_job_free(&job);
    kill(program, SIGKILL);
    waitpid(pid, NULL, 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(n, 1);
    assert_int_equal(found, program);
}

static void two_jobs_are_told_apart(void **state)
{
    struct pct_watched_job job = {.world = -1};
    struct pc_error error;
    int programs[2], pids[2];
    (void)state;
    pids[0] = start_rank("/bin/sh", "PMIX_NAMESPACE=1", &programs[0]);
    assert_int_equal(pct_watch_add(&job, getpid(), &error), PC_OK);
    bool alone = pct_watch_is_one_job(&job);
    pct_watch_job_free(&job);
    pids[1] = start_rank("/bin/sh", "PMIX_NAMESPACE=2", &programs[1]);
    assert_int_equal(pct_watch_add(&job, getpid(), &error), PC_OK);
    bool both = pct_watch_is_one_job(&job);
    pct_watch_job_free(&job);
    for (int i = 0; i < 2; i++) {
        kill(programs[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    assert_true(alone);
    assert_false(both);
}

static void a_list_of_processes_lists_the_machine_once(void **state)
{
    (void)state;
    struct pct_watched_job job = {.world = -1};
    struct pc_error error;
    assert_int_equal(pct_watch_add(&job, getpid(), &error), PC_OK);
    const struct pct_descent *all = job.all;
    assert_non_null(all);
    int pid = fork(); /* the list does not have it */
    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(pct_watch_add(&job, pid, &error), PC_OK);
    bool once = job.all == all && job.n == 2 && job.processes[1].pid == pid;
    pct_watch_job_free(&job);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_follow_each_other_are_all_opened),
        cmocka_unit_test(a_file_that_cannot_be_read_gives_no_text),
        cmocka_unit_test(a_folder_is_no_mpi_library),
        cmocka_unit_test(two_jobs_are_told_apart),
        cmocka_unit_test(a_list_of_processes_lists_the_machine_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
