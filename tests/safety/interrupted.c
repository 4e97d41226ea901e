/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread on the smallest stack that threads can have is interrupted by samples. The widest
 * registers are in use, so that the kernel's frame has its largest size:
 *
 *     interrupted SECONDS
 *
 * The stack is painted first. Prints how many bytes below the thread's own frame were written, and
 * the bytes of the kernel's frame for a signal (getauxval).
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { GUARD = 4096, STACK = 16384, PAINT = 0x5a };

static double seconds;
static uintptr_t own;
static volatile unsigned long sink;

#if defined __x86_64__
__attribute__((target("avx512f"))) static void widen(void)
{
    __asm__ volatile("vpternlogd $0xff, %%zmm17, %%zmm17, %%zmm17" ::: "xmm17");
}

static void use_wide_registers(void)
{
    if (__builtin_cpu_supports("avx512f"))
        widen();
}
#else
static void use_wide_registers(void)
{
}
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls nothing but a clock, so that the stack used below is the handler's. */
static void *spin(void *arg)
{
    own = (uintptr_t)__builtin_frame_address(0);
    for (double end = now() + seconds; now() < end;) {
        use_wide_registers();
        for (int i = 0; i < 1000000; i++)
            sink++;
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_attr_t attr;
    size_t untouched = 0;
    unsigned char *low =
        mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc < 2 || low == MAP_FAILED || mprotect(low, GUARD, PROT_NONE))
        return 2;
    seconds = atof(argv[1]);
    MPI_Init(&argc, &argv);
    now(); /* lets the loader bind clock_gettime here, not on the small stack */
    memset(low + GUARD, PAINT, STACK);
    pthread_attr_init(&attr);
    if (pthread_attr_setstack(&attr, low + GUARD, STACK) ||
        pthread_create(&thread, &attr, spin, NULL))
        return 2;
    pthread_join(thread, NULL);
    while (untouched < STACK && low[GUARD + untouched] == PAINT)
        untouched++;
    printf("%zu %lu\n", (size_t)(own - (uintptr_t)(low + GUARD)) - untouched,
           getauxval(AT_MINSIGSTKSZ));
    MPI_Finalize();
    return 0;
}
