/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places from which the walker must find its way out: through libc, through signal frames, on
 * other stacks, in other threads. No test framework: also built for other processors.
 */
#define _GNU_SOURCE 1

#include "tests/walk/frames.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

const void *volatile signal_context;

static struct job {
    const struct frame_kind *inner;
    leaf_fn leaf;
    void *arg;
} job;

static volatile int sink;

static void do_job(void)
{
    sink += job.inner->run(job.leaf, job.arg, 20);
    sink++;
}

static void from_here(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    job = (struct job){inner, leaf, arg};
    do_job();
    sink++;
}

static int compare_bytes(const void *a, const void *b)
{
    if (job.leaf) {
        do_job();
        job.leaf = NULL; /* only the first comparison does the job */
    }
    return *(const char *)a - *(const char *)b;
}

static void from_qsort(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    char data[] = "the quick brown fox";
    job = (struct job){inner, leaf, arg};
    qsort(data, sizeof data - 1, 1, compare_bytes);
    sink++;
}

static void *thread_main(void *arg)
{
    (void)arg;
    do_job();
    return NULL;
}

static void from_thread(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    pthread_t thread;
    job = (struct job){inner, leaf, arg};
    if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
        pthread_join(thread, NULL);
}

static void on_signal(int signum, siginfo_t *info, void *context)
{
    (void)signum;
    (void)info;
    signal_context = context;
    do_job();
    signal_context = NULL;
}

static void raise_signal(const struct frame_kind *inner, leaf_fn leaf, void *arg, int flags)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags}, old;
    job = (struct job){inner, leaf, arg};
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
}

static void from_signal(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    raise_signal(inner, leaf, arg, 0);
    sink++;
}

/* The alternate stack is a local array, so that the whole walk lies in a small range of memory. */
static void from_alternate_stack(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    _Alignas(4096) char memory[1 << 18];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, old;
    sigaltstack(&stack, &old);
    raise_signal(inner, leaf, arg, SA_ONSTACK);
    sigaltstack(&old, NULL);
}

static void from_foreign_alternate_stack(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    char *memory = malloc(1 << 18);
    stack_t stack = {.ss_sp = memory, .ss_size = 1 << 18}, old;
    sigaltstack(&stack, &old);
    raise_signal(inner, leaf, arg, SA_ONSTACK);
    sigaltstack(&old, NULL);
    free(memory);
}

static void from_coroutine(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    ucontext_t here, there;
    char *memory = malloc(1 << 18);
    job = (struct job){inner, leaf, arg};
    getcontext(&there);
    there.uc_stack.ss_sp = memory;
    there.uc_stack.ss_size = 1 << 18;
    there.uc_link = &here;
    makecontext(&there, do_job, 0);
    swapcontext(&here, &there);
    free(memory);
}

static void from_after_longjmp(const struct frame_kind *inner, leaf_fn leaf, void *arg)
{
    jmp_buf env;
    if (setjmp(env) == 0)
        longjmp(env, 1);
    from_here(inner, leaf, arg);
    sink++;
}

const struct place places[] = {
    {"here", from_here},
    {"qsort", from_qsort},
    {"a thread", from_thread},
    {"a signal handler", from_signal},
    {"a handler on an alternate stack", from_alternate_stack},
    {"a handler on an alternate stack elsewhere", from_foreign_alternate_stack},
    {"a coroutine", from_coroutine},
    {"after longjmp", from_after_longjmp},
    {0},
};
