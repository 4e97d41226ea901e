/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host for adapters, in place of the library's core: it records calls instead of booking them,
 * and returns the records to the program under test, which finds these functions by dlsym (NULL:
 * not preloaded).
 */
#ifndef PC_TEST_ADAPTER_HOST_H
#define PC_TEST_ADAPTER_HOST_H

#include <stdint.h>

struct adapter_seen {
    uint64_t calls; /* counted so far, in all */
    uint64_t sent, received;
    int32_t peer, root, tag, result;
    uint64_t node; /* number of the call, from 1 */
    char op[32];
    uint64_t completions;                     /* so far */
    uint64_t completed_node, completed_bytes; /* of the last completion */
    uint64_t all_sent, all_received;          /* completions included */
    uint64_t lost_receives;
    /* With ADAPTER_WANTS=16: operations that have ended, by the way they ended, and the data of the
     * last one. */
    uint64_t ended[6];
    uint64_t ended_start, ended_end; /* numbers of the calls */
    uint64_t ended_sent, ended_received;
    uint64_t wait_sum, call_ticks; /* all shares; length of the thread's last call */
    uint32_t init_begins, init_ends, finalize_begins, finalize_ends, merges;
};

/* Event that the calling thread has seen last, and the sums of all threads. */
typedef void adapter_host_look_fn(struct adapter_seen *out);

/* Number of times that a primitive ("MPI_Send") was counted. */
typedef uint64_t adapter_host_count_fn(const char *op);

#endif
