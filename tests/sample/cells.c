/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cells MS [SEED]: computes for MS ms of CPU time in functions that follow each other at random,
 * for tens or hundreds of microseconds each. The program counts for each function its page faults
 * and context switches, as the system reports them, and its instructions, where those of a loop are
 * known.
 *
 * Prints "FUNCTION FAULTS SWITCHES INSTRUCTIONS" for each function. INSTRUCTIONS are those of the
 * loops; 0: not known. No function calls another: all events happen in the function itself.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INLINE static inline __attribute__((always_inline))
#define CELL static __attribute__((noinline)) void

enum { PAGES = 64, PAGE = 4096 };

static volatile char *pages;
static unsigned page;
static char buffer[300000] = {1};
static int file;

/* ---- Actions that are counted ---------------------------------------------------------------- */

#if defined __x86_64__
enum { KNOWN = 2 }; /* instructions a round */

INLINE void spin(uint64_t rounds)
{
    __asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

INLINE long call(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__
enum { KNOWN = 2 };

INLINE void spin(uint64_t rounds)
{
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
}

INLINE long call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c, x3 __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
#else
enum { KNOWN = 0 };

INLINE void spin(uint64_t rounds)
{
    for (volatile uint64_t i = rounds; i; i--)
        ;
}

INLINE long call(long number, long a, long b, long c, long d)
{
    return syscall(number, a, b, c, d);
}
#endif

INLINE void fault(void)
{
    if (page == 0)
        call(SYS_madvise, (long)pages, (long)PAGES * PAGE, MADV_DONTNEED, 0);
    pages[page * PAGE] = 1;
    page = (page + 1) % PAGES;
}

/* Sleeps 20 us. A signal interrupts the call, also one that came before the thread slept. */
INLINE void give_way(void)
{
    const struct timespec soon = {0, 20000};
    while (call(SYS_nanosleep, (long)&soon, 0, 0, 0))
        ;
}

/* Spends some 30 us in the kernel in a call that no signal interrupts. */
INLINE void read_file(void)
{
    call(SYS_pread64, file, (long)buffer, sizeof buffer, 0);
}

/* ---- The functions --------------------------------------------------------------------------- */

CELL dense(unsigned steps, uint64_t rounds)
{
    for (; steps; steps--) {
        spin(rounds);
        fault();
    }
}

CELL sparse(unsigned steps, uint64_t rounds)
{
    for (; steps; steps--) {
        spin(rounds);
        if (steps % 4 == 0)
            fault();
    }
}

CELL sleepy(unsigned steps, uint64_t rounds)
{
    for (; steps; steps--) {
        spin(rounds);
        if (steps % 2)
            fault();
        give_way();
    }
}

CELL calling(unsigned steps, uint64_t rounds)
{
    for (; steps; steps--) {
        spin(rounds);
        fault();
        read_file();
    }
}

CELL brief(unsigned steps, uint64_t rounds)
{
    for (; steps; steps--) {
        spin(rounds);
        fault();
    }
}

struct kind {
    const char *name;
    void (*run)(unsigned steps, uint64_t rounds);
    unsigned steps;   /* mean of a stay, which has 0.5 to 1.5 times as many */
    unsigned step_ns; /* approximate time of the loop of a step */
    unsigned weight;  /* probability of the function, in 1/16 */
    uint64_t faults, switches, rounds;
};

static struct kind kinds[] = {{"dense", dense, 30, 8000, 2, 0, 0, 0},
                              {"sparse", sparse, 40, 15000, 1, 0, 0, 0},
                              {"sleepy", sleepy, 10, 15000, 2, 0, 0, 0},
                              {"calling", calling, 10, 15000, 3, 0, 0, 0},
                              {"brief", brief, 8, 4000, 8, 0, 0, 0}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Rounds of spin in one ns, from the fastest of several tries: slower tries were interrupted. */
static double rounds_a_ns(void)
{
    enum { TRIES = 20, ROUNDS = 100000 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = cpu_ns();
        spin(ROUNDS);
        uint64_t ns = cpu_ns() - begin;
        least = ns < least ? ns : least;
    }
    return (double)ROUNDS / (double)(least ? least : 1);
}

static void stay(struct kind *k, unsigned steps, double pace)
{
    uint64_t rounds = (uint64_t)(k->step_ns * pace) + 1;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    k->run(steps, rounds);
    getrusage(RUSAGE_SELF, &after);
    k->faults +=
        (uint64_t)(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
    k->switches +=
        (uint64_t)(after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
    k->rounds += rounds * steps;
}

static struct kind *choose(uint64_t random)
{
    struct kind *k = kinds;
    for (unsigned at = (unsigned)(random >> 60); at >= k->weight; k++)
        at -= k->weight;
    return k;
}

int main(int argc, char **argv)
{
    uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t random = 88172645463325252u + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    file = memfd_create("cells", 0);
    if (file < 0 || write(file, buffer, sizeof buffer) != sizeof buffer)
        return 1;
    prctl(PR_SET_TIMERSLACK, 1);
    double pace = rounds_a_ns();
    for (uint64_t until = cpu_ns() + ms * 1000000; cpu_ns() < until;) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        struct kind *k = choose(random * 0x9e3779b97f4a7c15u);
        stay(k, k->steps / 2 + (unsigned)(random >> 32) % k->steps, pace);
    }
    for (unsigned i = 0; i < KINDS; i++)
        printf("%s %llu %llu %llu\n", kinds[i].name, (unsigned long long)kinds[i].faults,
               (unsigned long long)kinds[i].switches, (unsigned long long)kinds[i].rounds * KNOWN);
    return 0;
}
