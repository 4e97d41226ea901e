/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Declarations that own_threads.c and viewer.c share.
 */
#ifndef PC_LIBPCCOUNT_PRIVATE_H
#define PC_LIBPCCOUNT_PRIVATE_H

#include "base/escape.h"
#include "counting/counting.h"
#include "include/pcollect/count.h"

#include <stdatomic.h>

enum { PCCOUNT_NAME_BYTES = 128 };

typedef void pccount_take_fn(void *arg, const struct pccount_values *of_thread);

struct pccount {
    struct pc_counting *counting; /* it has one group */
    size_t n;
    char names[PCCOUNT_MOST_EVENTS][PCCOUNT_NAME_BYTES];
    _Atomic unsigned n_users; /* the owner, and the threads that have begun */
    _Atomic bool freed;       /* by the owner */
    pccount_take_fn *take;
    void *take_arg;
    unsigned n_telling; /* threads in `take` */
};

/* True in a forked child of a process that made a count: another thread of the parent may have held
 * a lock, so that nothing that locks may be called. MT-safe. */
bool pc_count_is_child(void);
/* Reasons: this; others had the counters for a while; the program has closed descriptors. */
extern const char pc_count_in_child[], pc_count_taken[], pc_count_closed[];

#endif
