/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program with a clock_gettime of its own, which holds a lock for most of the time of the run and
 * shows another time on the clocks of threads, as libfaketime does. Its second thread is idle.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static volatile double sink;
    pthread_mutex_lock(&lock);
    int rc = (int)syscall(SYS_clock_gettime, clock, t);
    for (int i = 0; i < 10000; i++)
        sink = sink + i;
    pthread_mutex_unlock(&lock);
    t->tv_sec += clock < 0 ? 1500000000 : 0; /* 47 years */
    return rc;
}

static void *wait_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

int main(void)
{
    pthread_t idle;
    struct timespec t = {0, 0};
    if (pthread_create(&idle, NULL, wait_for_ever, NULL))
        return 1;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while (t.tv_sec < 1);
    return 0;
}
