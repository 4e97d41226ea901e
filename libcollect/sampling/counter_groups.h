/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters in the measured process: which events the configuration asks for, which of them this
 * machine has, and the record of each thread. The counting itself is in counting/; names come from
 * the module pcollect-events.so. For libcollect only.
 */
#ifndef PC_COUNTERS_H
#define PC_COUNTERS_H

#include "counting/counting.h"
#include "libcollect/state/state.h"

/* Events of one list of the configuration. */
struct pc_counted {
    struct pc_counting *counting; /* NULL: nothing is counted */
    uint32_t n_events, n_groups;
    const char *names[PC_COUNTING_MAX_EVENTS]; /* names of events as in the configuration */
    uint32_t strings[PC_COUNTING_MAX_EVENTS];  /* the names for STRING columns; 0: no room */
};

struct pc_counters {
    struct pc_counted events; /* those of `[sample] events` */
    struct pc_counted always; /* those of `[sample] always`: one group beside the others */
};

extern PC_HIDDEN struct pc_counters pc_counters;

/* Finds and opens the events of the configuration. Events that cannot be counted are left out, and
 * the lowest rank names them once. With PCOLLECT_STRICT that is an error. Opens a module:
 * init-only.
 */
int pc_counters_find(struct pc_error *error);
/* The arena is open. */
int pc_counters_start(void);

static inline bool pc_counters_any(void)
{
    return pc_counters.events.counting || pc_counters.always.counting;
}

/* Events that are counted all the time, in one group: those of `[sample] always`, else all events
 * if they are in one group. NULL: there are none. */
static inline const struct pc_counted *pc_counters_steady(void)
{
    if (pc_counters.always.counting)
        return &pc_counters.always;
    return pc_counters.events.counting && pc_counters.events.n_groups == 1 ? &pc_counters.events
                                                                           : NULL;
}

/* The calling thread has been registered and counts from now on / is about to end. */
void pc_counters_enter(struct pc_thread *t, void *function);
void pc_counters_leave(struct pc_thread *t);
/* Called in a forked child: closes the parent's events. */
void pc_counters_forget(void);

#endif
