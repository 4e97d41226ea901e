/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Code that is difficult to walk, with some CPU time each: code made at run time without unwind
 * tables, behind a page that cannot be read; a coroutine on a stack of its own, a handler on an
 * alternate stack, a leaf without a frame called through a table, the vdso. Argument: milliseconds
 * each. Prints "done".
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

int generated(void);
void coroutine(void);
int in_coroutine(void);
int in_handler(void);
int leaves(void);
int clocks(void);

enum { STACK_BYTES = 65536 };
static volatile double sink;
static uint64_t piece_ns;
static ucontext_t outside, inside;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *memory(int protection)
{
    void *p = mmap(NULL, STACK_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    return p;
}

static __attribute__((noinline)) void burn(int n)
{
    double x = sink;
    for (int i = 0; i < n; i++)
        x = x * 0.999 + 1.0;
    sink = x;
}

/* Calls code at the start of a page. Compilers use the register rcx for such calls, too. */
static inline void call(char *code, uint64_t n)
{
#if defined __x86_64__
    __asm__ volatile("call *%%rcx" : "+D"(n) : "c"(code) : "memory", "cc");
#else
    void (*run)(uint64_t);
    memcpy(&run, &code, sizeof run);
    run(n);
#endif
}

/* The generated code counts down from its argument to 0, and returns. */
__attribute__((noinline)) int generated(void)
{
#if defined __x86_64__
    static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
#elif defined __aarch64__
    static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#else
    return 0;
#endif
#if defined __x86_64__ || defined __aarch64__
    size_t half = STACK_BYTES / 2;
    char *guard = memory(PROT_READ | PROT_WRITE), *p = guard + half;
    memcpy(p, code, sizeof code);
    mprotect(guard, half, PROT_NONE);
    mprotect(p, half, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(p, p + sizeof code);
    for (uint64_t end = cpu_ns() + piece_ns; cpu_ns() < end;)
        call(p, 200000);
    return 1;
#endif
}

void coroutine(void)
{
    for (;;) {
        burn(20000);
        swapcontext(&inside, &outside);
    }
}

__attribute__((noinline)) int in_coroutine(void)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory(PROT_READ | PROT_WRITE);
    inside.uc_stack.ss_size = STACK_BYTES;
    inside.uc_link = NULL;
    makecontext(&inside, coroutine, 0);
    for (uint64_t end = cpu_ns() + piece_ns; cpu_ns() < end;)
        swapcontext(&outside, &inside);
    return 1;
}

static void on_signal(int signal)
{
    (void)signal;
    burn(20000);
    __asm__ volatile(""); /* no tail call */
}

__attribute__((noinline)) int in_handler(void)
{
    stack_t stack = {.ss_sp = memory(PROT_READ | PROT_WRITE), .ss_size = STACK_BYTES};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (uint64_t end = cpu_ns() + piece_ns; cpu_ns() < end;)
        raise(SIGUSR1);
    return 1;
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* A leaf that libc calls. */
__attribute__((noinline)) int leaves(void)
{
    static int numbers[2000];
    for (uint64_t end = cpu_ns() + piece_ns; cpu_ns() < end;) {
        for (unsigned i = 0; i < 2000; i++)
            numbers[i] = (int)(i * 7919u % 2003u);
        qsort(numbers, 2000, sizeof numbers[0], compare);
    }
    return 1;
}

__attribute__((noinline)) int clocks(void)
{
    struct timespec ts;
    for (uint64_t end = cpu_ns() + piece_ns; cpu_ns() < end;)
        for (int i = 0; i < 1000; i++)
            clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1;
}

int main(int argc, char **argv)
{
    piece_ns = (uint64_t)(argc > 1 ? atoi(argv[1]) : 200) * 1000000u;
    int n = generated() + in_coroutine() + in_handler() + leaves() + clocks();
    puts(n ? "done" : "nothing");
    return 0;
}
