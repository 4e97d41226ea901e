/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counted MS [PHASE_US [once]]: computes for MS ms of CPU time, and counts for each function the
 * minor page faults, as the system reports them, and the CPU time by the thread's clock.
 *
 * Without PHASE_US, functions follow each other at random; some stays last tens of microseconds.
 * With PHASE_US, `often` and `seldom` take turns of PHASE_US us of CPU time. With `once`, `often`
 * has the first PHASE_US us and `seldom` all the rest.
 *
 * Prints "FUNCTION FAULTS SECONDS" for each function.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { PAGES = 64, PAGE = 4096 };

static volatile char *pages;
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

/* Computes `steps` steps with a page fault in each `every`-th, inlined into each function. */
static inline __attribute__((always_inline)) void compute(unsigned steps, unsigned every)
{
    uint64_t x = sink;
    for (unsigned i = 0, page = 0; i < steps; i++) {
        for (unsigned k = 0; k < 40; k++)
            x = x * 6364136223846793005u + 1442695040888963407u;
        if (i % every)
            continue;
        if (page == 0)
            madvise((void *)pages, PAGES * PAGE, MADV_DONTNEED);
        pages[page * PAGE] = (char)x;
        page = (page + 1) % PAGES;
    }
    sink = x;
}

static __attribute__((noinline)) void often(unsigned steps)
{
    compute(steps, 20);
}

static __attribute__((noinline)) void seldom(unsigned steps)
{
    compute(steps, 400);
}

static __attribute__((noinline)) void brief(unsigned steps)
{
    compute(steps, 50);
}

struct kind {
    const char *name;
    void (*run)(unsigned steps);
    unsigned steps; /* mean of a stay */
    uint64_t faults, ns;
};

static struct kind kinds[] = {
    {"often", often, 8000, 0, 0}, {"seldom", seldom, 16000, 0, 0}, {"brief", brief, 500, 0, 0}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void stay(struct kind *k, unsigned steps)
{
    uint64_t ns = cpu_ns(), before = faults();
    k->run(steps);
    k->faults += faults() - before;
    k->ns += cpu_ns() - ns;
}

static void mix(uint64_t until)
{
    uint64_t random = 88172645463325252u;
    while (cpu_ns() < until) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        struct kind *k = &kinds[random % 16 < 2 ? random % 16 : 2];
        stay(k, k->steps / 2 + (unsigned)(random >> 32) % k->steps);
    }
}

static void take_turns(uint64_t until, uint64_t phase_ns, int once)
{
    enum { FEW_STEPS = 1000 };
    for (uint64_t now; (now = cpu_ns()) < until;)
        stay(&kinds[once ? now > phase_ns : now / phase_ns % 2], FEW_STEPS);
}

int main(int argc, char **argv)
{
    uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t phase_us = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    uint64_t until = cpu_ns() + ms * 1000000;
    if (phase_us)
        take_turns(until, phase_us * 1000, argc > 3);
    else
        mix(until);
    for (unsigned i = 0; i < KINDS; i++)
        printf("%s %llu %.6f\n", kinds[i].name, (unsigned long long)kinds[i].faults,
               (double)kinds[i].ns * 1e-9);
    return 0;
}
