/* SPDX-License-Identifier: BSD-3-Clause
 *
 * steady SECONDS: threads that wait in every way that a stop could disturb, and threads that
 * compute. Prints what went wrong, at the end "right" or how often not.
 *
 * steady -: until its input ends. For each line of it the threads come to a gate, and it compares
 * what it sees of itself with what it saw at first: prints "same", or "differs: " and the first
 * line that does. For the line "open" it has a descriptor more meanwhile. Signals have handlers,
 * which no signal should reach.
 */
#include "own_state.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int wrong, turns, over;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { WAIT_MS = 20, TICK_MS = 10 };

static int by_epoll(void)
{
    struct epoll_event event;
    int fd = epoll_create1(0), got = epoll_wait(fd, &event, 1, WAIT_MS);
    int why = errno;
    close(fd);
    errno = why;
    return got == 0;
}

static int by_poll(void)
{
    return poll(NULL, 0, WAIT_MS) == 0;
}

static int by_select(void)
{
    struct timeval t = {0, WAIT_MS * 1000};
    return select(0, NULL, NULL, NULL, &t) == 0;
}

static int by_sleep(void)
{
    struct timespec t = {0, WAIT_MS * 1000000};
    return nanosleep(&t, NULL) == 0;
}

static int by_signal(void)
{
    sigset_t set;
    struct timespec t = {0, WAIT_MS * 1000000};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return sigtimedwait(&set, NULL, &t) == -1 && errno == EAGAIN;
}

static int by_socket(void)
{
    int ends[2];
    char byte;
    struct timeval t = {0, WAIT_MS * 1000};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 0;
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    ssize_t got = recv(ends[0], &byte, 1, 0);
    int why = errno;
    close(ends[0]);
    close(ends[1]);
    errno = why;
    return got == -1 && why == EAGAIN;
}

static int by_condition(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    pthread_condattr_t attributes;
    struct timespec t;
    /* The default clock is that of the wall, which may be adjusted meanwhile. */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    pthread_condattr_destroy(&attributes);
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += WAIT_MS * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    int got = pthread_cond_timedwait(&condition, &lock, &t);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&condition);
    errno = got;
    return got == ETIMEDOUT;
}

static int by_sums(void)
{
    double sum = 0;
    for (int i = 1; i <= 2000000; i++)
        sum += i;
    return sum == 2000001000000.0;
}

static const struct {
    const char *name;
    int (*turn)(void);
    int least_ms;
} ways[] = {{"epoll_wait", by_epoll, WAIT_MS},
            {"poll", by_poll, WAIT_MS},
            {"select", by_select, WAIT_MS},
            {"nanosleep", by_sleep, WAIT_MS},
            {"sigtimedwait", by_signal, WAIT_MS},
            /* counted in ticks of the kernel, the first of which may be late */
            {"recv", by_socket, WAIT_MS - TICK_MS},
            {"pthread_cond_timedwait", by_condition, WAIT_MS},
            {"sums", by_sums, 0}};

enum { N_WAYS = sizeof ways / sizeof *ways };

/* ---- The gate: threads that are at it do nothing ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static atomic_int closed;
static int n_at_gate;

static void pass_gate(void)
{
    if (!closed)
        return;
    pthread_mutex_lock(&gate);
    n_at_gate++;
    pthread_cond_broadcast(&moved);
    while (closed)
        pthread_cond_wait(&moved, &gate);
    n_at_gate--;
    pthread_mutex_unlock(&gate);
}

/* A stopped thread never arrives. */
static void close_gate(void)
{
    pthread_mutex_lock(&gate);
    closed = 1;
    while (n_at_gate < N_WAYS)
        pthread_cond_wait(&moved, &gate);
    pthread_mutex_unlock(&gate);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate);
    closed = 0;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&gate);
}

static void *run(void *arg)
{
    size_t i = (size_t)arg;
    for (; !over; pass_gate()) {
        double begin = now();
        errno = 0;
        int right = ways[i].turn();
        if (!right || now() - begin < 1e-3 * ways[i].least_ms) {
            printf("%s: %s after %.3f ms\n", ways[i].name, strerror(errno), 1e3 * (now() - begin));
            wrong++;
        }
        turns++;
    }
    return NULL;
}

/* ---- What it sees of itself ---- */

static atomic_int arrived;

static void count_signal(int number)
{
    (void)number;
    arrived++;
}

/* A handler for each of these signals, with flags and masks of several kinds; a timer
 * that does not fire, and a signal that stays pending. */
static void prepare(void)
{
    static const int own[] = {SIGHUP,    SIGUSR2, SIGCHLD, SIGCONT,  SIGTRAP, SIGURG,
                              SIGVTALRM, SIGPROF, SIGIO,   SIGWINCH, SIGALRM, SIGPIPE};
    struct itimerval hour = {{3600, 0}, {3600, 0}};
    sigset_t set;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct sigaction a;
        memset(&a, 0, sizeof a);
        a.sa_handler = count_signal;
        a.sa_flags = i % 2 ? SA_RESTART : SA_NODEFER;
        sigaddset(&a.sa_mask, own[(i + 1) % (sizeof own / sizeof *own)]);
        sigaction(own[i], &a, NULL);
    }
    signal(SIGQUIT, SIG_IGN);
    setitimer(ITIMER_REAL, &hour, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGRTMIN + 3);
}

/* The first looks have memory and stack made for those that count. */
static void look_when_told(void)
{
    static struct own_state first, now;
    char line[1024];
    for (int i = 0; i < 3; i++) {
        close_gate();
        own_state_take(i ? &first : &now);
        open_gate();
    }
    printf("begun\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        close_gate();
        int more = strcmp(line, "open\n") ? -1 : open("/dev/null", O_RDONLY);
        own_state_take(&now);
        close(more);
        if (own_state_differs(&first, &now, line, sizeof line))
            printf("differs: %s\n", line);
        else if (arrived)
            printf("differs: %d signals have come\n", arrived);
        else
            printf("same\n");
        open_gate();
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[N_WAYS];
    sigset_t set;
    double end = now() + (argc > 1 ? atof(argv[1]) : 1);
    int told = argc > 1 && !strcmp(argv[1], "-");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (told)
        prepare();
    for (size_t i = 0; i < N_WAYS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    if (told)
        look_when_told();
    while (!told && now() < end)
        usleep(1000);
    over = 1;
    for (size_t i = 0; i < N_WAYS; i++)
        pthread_join(threads[i], NULL);
    printf(wrong ? "%d of %d turns went wrong\n" : "right\n", wrong, turns);
    return wrong != 0;
}
