/* SPDX-License-Identifier: BSD-3-Clause
 *
 * steady SECONDS: threads that wait in every way that a stop could disturb, and threads that
 * compute. Prints what went wrong, at the end "right" or how often not.
 */
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
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += WAIT_MS * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    int got = pthread_cond_timedwait(&condition, &lock, &t);
    pthread_mutex_unlock(&lock);
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

static void *run(void *arg)
{
    size_t i = (size_t)arg;
    while (!over) {
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

int main(int argc, char **argv)
{
    enum { N = sizeof ways / sizeof *ways };
    pthread_t threads[N];
    sigset_t set;
    double end = now() + (argc > 1 ? atof(argv[1]) : 1);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    while (now() < end)
        usleep(1000);
    over = 1;
    for (size_t i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    printf(wrong ? "%d of %d turns went wrong\n" : "right\n", wrong, turns);
    return wrong != 0;
}
