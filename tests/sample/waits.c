/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that any handler ends with EINTR, between bursts of computation, by three threads. Without
 * an argument no signal of the program's own comes, and no call may end with EINTR. With "alarm" a
 * timer of the program's own interrupts each kind of call, and each must say so. Prints the kinds
 * that were wrong.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { N_KINDS = 11, N_THREADS = 3 };

static const char *const names[N_KINDS] = {
    "poll",   "ppoll",         "select",  "pselect",         "epoll",       "nanosleep",
    "usleep", "sem_timedwait", "epoll_p", "clock_nanosleep", "sigtimedwait"};
static volatile double sink;

/* One call that waits for us microseconds; whether it ended with EINTR. */
static int wait_once(int kind, int epoll, sem_t *sem, long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000}, until;
    struct timeval tv = {us / 1000000, us % 1000000};
    struct epoll_event event;
    sigset_t set;
    int ms = (int)(us / 1000), result = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += time.tv_sec + (until.tv_nsec + time.tv_nsec) / 1000000000;
    until.tv_nsec = (until.tv_nsec + time.tv_nsec) % 1000000000;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    errno = 0;
    switch (kind) {
    case 0:
        result = poll(NULL, 0, ms);
        break;
    case 1:
        result = ppoll(NULL, 0, &time, NULL);
        break;
    case 2:
        result = select(0, NULL, NULL, NULL, &tv);
        break;
    case 3:
        result = pselect(0, NULL, NULL, NULL, &time, NULL);
        break;
    case 4:
        result = epoll_wait(epoll, &event, 1, ms);
        break;
    case 5:
        result = nanosleep(&time, NULL);
        break;
    case 6:
        result = usleep((useconds_t)us);
        break;
    case 7:
        result = sem_timedwait(sem, &until);
        break;
    case 8:
        result = epoll_pwait(epoll, &event, 1, ms, NULL);
        break;
    case 9:
        return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == EINTR;
    case 10:
        result = sigtimedwait(&set, NULL, &time);
        break;
    default:
        break;
    }
    return result == -1 && errno == EINTR;
}

static void *work(void *wrong)
{
    int *n = wrong, epoll = epoll_create1(0);
    sem_t sem;
    sem_init(&sem, 0, 0);
    for (int i = 0; i < 400; i++)
        for (int kind = 0; kind < N_KINDS; kind++) {
            for (int k = 0; k < 15000; k++)
                sink = sink + k;
            n[kind] += wait_once(kind, epoll, &sem, i % 3 ? 20 : 1000);
        }
    close(epoll);
    return NULL;
}

static void nothing(int signal)
{
    (void)signal;
}

/* Each kind of call, five seconds long, is ended by a signal. */
static void check_alarm(void)
{
    struct sigaction action;
    struct itimerval soon = {{0, 20000}, {0, 20000}}; /* again: it may be early */
    int epoll = epoll_create1(0);
    sem_t sem;
    memset(&action, 0, sizeof action);
    action.sa_handler = nothing;
    sigaction(SIGALRM, &action, NULL);
    sem_init(&sem, 0, 0);
    for (int kind = 0; kind < N_KINDS; kind++) {
        long us = kind == 6 ? 900000 : 5000000;
        setitimer(ITIMER_REAL, &soon, NULL);
        if (!wait_once(kind, epoll, &sem, us))
            puts(names[kind]);
    }
    soon = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

int main(int argc, char **argv)
{
    static int wrong[N_THREADS][N_KINDS];
    pthread_t threads[N_THREADS];
    (void)argv;
    if (argc > 1) {
        check_alarm();
        return 0;
    }
    for (int i = 1; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, wrong[i]);
    work(wrong[0]);
    for (int i = 1; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N_THREADS; i++)
        for (int kind = 0; kind < N_KINDS; kind++)
            if (wrong[i][kind])
                printf("%s %d\n", names[kind], wrong[i][kind]);
    return 0;
}
