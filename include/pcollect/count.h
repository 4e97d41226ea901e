/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting from inside a program: the library libpccount (pkg-config libpccount). It needs neither
 * libpcollect.so nor a profile.
 *
 *     struct pccount_error why;
 *     struct pccount *c = pccount_new("instructions,cache-misses", &why);
 *     if (!c)
 *         return fprintf(stderr, "%s\n", why.text), 1;
 *     pccount_begin(c);
 *     solve();
 *     pccount_end(c);
 *     struct pccount_values sum;
 *     if (pccount_total(c, &sum))
 *         return fprintf(stderr, "%s\n", pccount_why(c)), 1;
 *     printf("%s: %llu\n", pccount_name(c, 0), (unsigned long long)sum.value[0]);
 *
 * A count says which events are counted. Each thread counts for itself between begin and end; the
 * total is that of all threads, of those that have ended too. Different counts may overlap and be
 * nested in any way.
 *
 * A view counts others: a thread, a process, or a processor, from outside.
 *
 * Nothing is estimated. The kernel makes counts that need more counters at a time than the
 * processor has take turns, and with other users of the counters too. A count that was without its
 * counters for a while misses events: it cannot be read any more.
 *
 * Functions may be called from any thread, but not in signal handlers. In a child of fork whose
 * parent had made a count, they fail until it calls exec. Nothing is printed. errno is kept.
 */
#ifndef PCOLLECT_COUNT_H
#define PCOLLECT_COUNT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PCCOUNT_MOST_EVENTS = 15 };

struct pccount_error {
    char text[512]; /* one line: what, why, and what to do */
};

/* Count of each event, in the order of the list; clocks in ns. */
struct pccount_values {
    uint64_t value[PCCOUNT_MOST_EVENTS];
    uint64_t n_threads; /* that have counted; those of a view: 0 */
    uint64_t n_ended;   /* of them */
};

/* ---- What is counted ---- */

struct pccount;

/* Events by the kernel's names (page-faults, instructions:u, LLC-load-misses), as raw codes (r1a8)
 * or of a unit (cpu/event=0xa8/), separated by commas; `perf list` and pcollect-stat(1) tell them.
 * They count at the same time: a list that needs more counters than the processor has is refused.
 * An event of which the kernel lets us count the user's side only counts that, and its name ends in
 * :u. NULL: *why says why; it may be NULL. */
struct pccount *pccount_new(const char *events, struct pccount_error *why);

size_t pccount_n(const struct pccount *c);
const char *pccount_name(const struct pccount *c, size_t i); /* valid as long as the count */

/* No thread may be between begin and end. Other threads close their descriptors for it when they
 * begin another count, or end. NULL is allowed. */
void pccount_free(struct pccount *c);

/* ---- The calling thread ---- */

/* Counts until the end; begins may be nested, and the outermost count. 0; -1: nothing is counted,
 * and pccount_why says why. */
int pccount_begin(struct pccount *c);
/* 0; -1: there was no begin. */
int pccount_end(struct pccount *c);

/* Counts of the calling thread so far, which may be read between begin and end as well. 0;
 * -1: it has not counted, its descriptors were closed, or others took its counters; *out is 0. */
int pccount_thread(struct pccount *c, struct pccount_values *out);
/* Counts of all threads. 0; -1: others took the counters of a thread, the program has closed the
 * descriptors of one, or this is a child of fork; *out is 0. */
int pccount_total(struct pccount *c, struct pccount_values *out);

/* Reason why the last call of this thread failed; "" if none did. Valid until the next call. */
const char *pccount_why(struct pccount *c);

/* Is called in each thread that has counted, when it ends, with what it has counted: a program adds
 * up as it likes. It is not called if that is not known, nor after pccount_free, which waits until
 * calls in other threads have returned; it must not free the count itself. Set before the first
 * begin. */
void pccount_at_thread_end(struct pccount *c,
                           void (*take)(void *arg, const struct pccount_values *of_thread),
                           void *arg);

/* ---- Others ---- */

struct pccount_view;

enum pccount_view_of {
    PCCOUNT_THREAD,    /* id: a thread, with what it starts from now on; 0: the calling one */
    PCCOUNT_PROCESS,   /* id: a process: all its threads, and what they start from now on */
    PCCOUNT_EXEC,      /* id: a process, from its next exec on: a child that is about to begin */
    PCCOUNT_PROCESSOR, /* id: whatever runs on it */
    PCCOUNT_MACHINE    /* id: 0; whatever runs on any processor */
};

/* Nothing is loaded into what is viewed, and it is not stopped. A view does not count before
 * pccount_view_start, but for PCCOUNT_EXEC. NULL: *why says why; it may be NULL. */
struct pccount_view *pccount_view_new(struct pccount *c, enum pccount_view_of of, int id,
                                      struct pccount_error *why);
/* 0; -1: the program has closed descriptors of the view, or this is a child of fork. */
int pccount_view_start(struct pccount_view *v);
int pccount_view_stop(struct pccount_view *v);
/* Counts since the view was made. 0; -1: the program has closed descriptors of the view, others
 * took its counters, or this is a child of fork; *out is 0. */
int pccount_view_read(struct pccount_view *v, struct pccount_values *out);
/* Reason why the last call for this view failed; "" if it did not. */
const char *pccount_view_why(const struct pccount_view *v);
/* Nothing stays behind. NULL is allowed. */
void pccount_view_free(struct pccount_view *v);

#ifdef __cplusplus
}
#endif

#endif
