/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program of two ranks that ends in the way that its argument names. Every rank calls
 * MPI_Barrier seven times. The second argument is the prefix of files by which the ranks tell each
 * other their progress. The library ends_library.c calls at_library_end in its destructor, which
 * runs after that of a preloaded library.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void (*at_library_end)(void);

static const char *how;
static int rank;
static atomic_int in_thread;

static void finalize(void)
{
    MPI_Finalize();
}

static void ask_once(void)
{
    int flag = 0;
    MPI_Finalized(&flag);
    if (!flag)
        fputs("MPI is not finalized\n", stderr);
}

static void ask_twice(void)
{
    ask_once();
    ask_once();
}

static void *ask_for_ever(void *arg)
{
    int flag;
    (void)arg;
    for (;;) {
        MPI_Finalized(&flag);
        in_thread = 1;
    }
    return NULL;
}

static void *receive(void *arg)
{
    int x;
    (void)arg;
    in_thread = 1;
    MPI_Recv(&x, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* nobody sends */
    return NULL;
}

static void *become_other(void *arg)
{
    (void)arg;
    execl("/bin/echo", "echo", "another program", (char *)NULL);
    _exit(99);
}

static void *leave(void *arg)
{
    (void)arg;
    exit(rank == 0 ? 3 : 0);
}

static void *outlive_main(void *arg)
{
    pthread_join(*(pthread_t *)arg, NULL);
    ask_once();
    exit(0);
}

static void start(void *(*run)(void *), bool wait_until_in)
{
    static pthread_t main_thread;
    pthread_t thread;
    main_thread = pthread_self();
    if (pthread_create(&thread, NULL, run, &main_thread))
        exit(99);
    while (wait_until_in && !in_thread)
        usleep(1000);
}

static bool is(const char *way)
{
    return !strcmp(how, way);
}

static int open_mark(const char *path, int of)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, of);
    return open(name, O_CREAT | O_RDWR, 0600);
}

/* Notes that this rank is here. If `waiting`, waits for the other rank: launchers kill the other
 * ranks as soon as one fails, or leaves without MPI_Finalize. */
static void meet(const char *path, bool waiting)
{
    char name[4096];
    if (!path)
        return;
    close(open_mark(path, rank));
    snprintf(name, sizeof name, "%s.%d", path, !rank);
    for (int ms = 0; waiting && access(name, F_OK) != 0 && ms < 20000; ms++)
        usleep(1000);
}

/* Makes rank 1 wait until rank 0 has ended: the end of rank 0 releases its lock. */
static void end_after_rank_0(const char *path, bool begin)
{
    if (path && begin == (rank == 0) && lockf(open_mark(path, 2), F_LOCK, 0))
        perror("lockf");
}

static int end_after_finalize(void)
{
    int status = rank == 0 ? 3 : 0;
    if (is("late")) {
        atexit(ask_once);
        atexit(ask_twice);
        at_library_end = ask_twice;
        return 0;
    }
    if (is("exit-in-thread"))
        start(leave, false);
    if (is("main-thread-first"))
        start(outlive_main, false), pthread_exit(NULL);
    if (is("exec-in-thread"))
        start(become_other, false);
    if (is("exit-in-thread") || is("exec-in-thread"))
        pause();
    if (is("abort") && rank == 0)
        abort();
    if (is("_exit"))
        _exit(status);
    if (is("quick_exit"))
        quick_exit(status);
    if (is("exit"))
        exit(status);
    if (is("kill") && rank == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    int provided;
    const char *path = argc > 2 ? argv[2] : NULL;
    how = argc > 1 ? argv[1] : "return";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is("thread-receives"))
        end_after_rank_0(path, true);
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (is("thread-asks"))
        start(ask_for_ever, true);
    if (is("thread-receives")) {
        start(receive, true);
        meet(path, true);
        end_after_rank_0(path, false);
        return 0;
    }
    if (is("exec-inside")) {
        meet(path, true);
        become_other(NULL);
    }
    if (is("finalize-at-exit"))
        return atexit(finalize);
    if (is("finalize-at-library-end")) {
        at_library_end = finalize;
        return 0;
    }
    MPI_Finalize();
    meet(path, rank == 0);
    return end_after_finalize();
}
