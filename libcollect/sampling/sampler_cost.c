/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of sampling. The cost of an interrupt is that of the handler, which measures itself,
 * plus the kernel's part: taking the interrupt, making the signal frame, returning. The kernel's
 * part can only be measured from outside: a thread that does nothing but read its clock finds a gap
 * where it was interrupted by a handler that does nothing. It is measured once for each source that
 * the process uses, by the first thread that has it. The thread is kept busy meanwhile, because
 * sources stand still while a thread waits.
 */
#include "libcollect/sampling/sampler.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES = 15, LEAST_TRIES = 3 };

static _Atomic uint64_t kernel_part[PC_N_SOURCES]; /* ns; 0: not known */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The gap that one interrupt makes in the thread's CPU time; 0: no interrupt came in time. */
static uint64_t find_gap(struct pc_sampler *s, uint64_t until_ns)
{
    enum { DISTANCE_NS = 50000 };
    uint32_t before = s->tries;
    uint64_t last = pc_sampler_cpu_ns(), now = last;
    pc_sampler_arm_for(s, DISTANCE_NS);
    while (s->tries == before && now < until_ns) {
        last = now;
        now = pc_sampler_cpu_ns();
    }
    return s->tries == before ? 0 : pc_sampler_cpu_ns() - last;
}

/* The kernel checks a timer in the system's tick, which comes anyway but seldom. The timer's own
 * cost is the signal, so the signal is sent directly. */
static uint64_t find_gap_of_timer(struct pc_sampler *s)
{
    siginfo_t info = {.si_signo = s->signal, .si_code = SI_TIMER};
    info.si_value.sival_ptr = s;
    uint32_t before = s->tries;
    uint64_t begin = pc_sampler_cpu_ns();
    syscall(SYS_rt_tgsigqueueinfo, getpid(), s->tid, s->signal, &info);
    uint64_t end = pc_sampler_cpu_ns();
    return s->tries == before ? 0 : end - begin;
}

static uint64_t median(uint64_t *values, unsigned n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* Measures gaps by the thread's CPU clock and takes the median: a gap in which the processor was
 * taken from the thread, or from the virtual machine, is far longer. False: no interrupt came. */
static bool measure(struct pc_sampler *s, uint64_t *ns)
{
    enum { LONGEST_NS = 10000000 };
    unsigned n = 0;
    uint64_t gaps[TRIES], until_ns = pc_sampler_cpu_ns() + LONGEST_NS;
    bool timer = s->source == PC_SOURCE_TIMER;
    s->trying = true;
    while (n < TRIES && (gaps[n] = timer ? find_gap_of_timer(s) : find_gap(s, until_ns)))
        n++;
    pc_sampler_disarm(s);
    s->trying = false;
    if (n >= LEAST_TRIES)
        *ns = median(gaps, n);
    return n > 0;
}

/* Time of the return from a handler that arms the source for DISTANCE_NS: the part of that time
 * that the program does not get and the handler cannot see. The kernel may interrupt more than once
 * (timer, then signal), and the processor may be taken away, so the program's time is the sum of
 * the intervals between successive looks at the clock that are close together. False: no interrupt
 * came in time. */
static bool find_return(struct pc_sampler *s, uint64_t until_ns, uint64_t *ns)
{
    enum { DISTANCE_NS = 50000, CLOSE_NS = 1500, LOOKS = 1000 };
    uint64_t scale = pc_process.host.ns_per_tick_q32, run = 0, last, now = 0;
    uint32_t before = s->tries;
    s->again_ns = DISTANCE_NS;
    pc_sampler_arm_for(s, DISTANCE_NS);
    while (s->tries == before && pc_sampler_cpu_ns() < until_ns)
        now = pc_ticks();
    for (unsigned looks = 1; s->tries == before + 1; looks++) {
        last = now;
        now = pc_ticks();
        run += pc_clock_to_ns(now - last, scale) < CLOSE_NS ? now - last : 0;
        if (looks % LOOKS == 0 && pc_sampler_cpu_ns() >= until_ns)
            break;
    }
    s->again_ns = 0;
    run = pc_clock_to_ns(run, scale) + s->lead_ns;
    *ns = run < DISTANCE_NS ? DISTANCE_NS - run : 0;
    return s->tries == before + 2;
}

static uint64_t measure_return(struct pc_sampler *s)
{
    enum { LONGEST_NS = 50000000 };
    unsigned n = 0;
    uint64_t ways[TRIES], until_ns = pc_sampler_cpu_ns() + LONGEST_NS;
    s->trying = true;
    s->return_ns = 0;
    while (n < TRIES && find_return(s, until_ns, &ways[n]))
        n++;
    pc_sampler_disarm(s);
    s->trying = false;
    return n < LEAST_TRIES ? 0 : median(ways, n);
}

static bool is_blocked(void)
{
    sigset_t set;
    return pthread_sigmask(SIG_SETMASK, NULL, &set) || sigismember(&set, pc_sampler_signal);
}

bool pc_sampler_measure(struct pc_sampler *s)
{
    enum { UNKNOWN_NS = 4000 };
    bool works = true;
    s->kernel_ns = atomic_load(&kernel_part[s->source]);
    if (s->kernel_ns)
        return true;
    s->kernel_ns = UNKNOWN_NS;
    if (!is_blocked()) {
        works = measure(s, &s->kernel_ns);
        atomic_store(&kernel_part[s->source], s->kernel_ns);
    }
    return works;
}

void pc_sampler_measure_return(struct pc_sampler *s)
{
    static _Atomic uint64_t known[PC_N_SOURCES]; /* value + 1; 0: not known */
    uint64_t ns = atomic_load(&known[s->source]);
    if (!ns && !is_blocked()) {
        ns = measure_return(s) + 1;
        atomic_store(&known[s->source], ns);
    }
    s->return_ns = ns ? ns - 1 : 0;
}

static bool want_empty_windows(void)
{
    for (uint32_t k = 0; k < pc_process.n_compute; k++)
        if (pc_process.compute[k].plugin->open)
            return pc_process.compute[k].plugin->empty_windows;
    return false;
}

/* The windows follow each other in the handler; the first handler call belongs to no window. */
void pc_sampler_measure_windows(struct pc_sampler *s)
{
    enum { LONGEST_NS = 50000000, FIRST_NS = 50000, LOOKS = 1000 };
    if (!want_empty_windows() || is_blocked())
        return;
    uint64_t until_ns = pc_sampler_cpu_ns() + LONGEST_NS;
    s->tries = 0;
    s->trying = s->empty = true;
    pc_sampler_arm_for(s, FIRST_NS);
    for (unsigned looks = 1; s->empty; looks++) {
        pc_ticks();
        if (looks % LOOKS == 0 && pc_sampler_cpu_ns() >= until_ns)
            break;
    }
    pc_sampler_disarm(s);
    s->trying = s->empty = false;
}

PC_EXPORT uint64_t pcollect_overhead_ns(void);

uint64_t pcollect_overhead_ns(void)
{
    const struct pc_sampler *s = pc_self ? pc_self->sampler : NULL;
    return s ? s->counts[PC_SAMPLE_COST_NS] + s->counts[PC_SAMPLE_OWN_NS] : 0;
}
