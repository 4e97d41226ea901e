/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress of long work, for the user who waits. The working code reports the begin and the end of
 * each step; the program registers a listener, or none. Steps may be nested. Not used in the
 * measured process, which has no listener.
 */
#ifndef PC_PROGRESS_H
#define PC_PROGRESS_H

#include "base/base.h"

struct pc_progress_listener {
    /* "reading symbols of" "libm.so.6", which is number `done` of `all`; all = 0: the number is not
     * known. The texts need not outlive the call. */
    void (*begin)(const char *doing, const char *what, uint64_t done, uint64_t all);
    void (*end)(void);
};

/* NULL: no listener. Set once, before the work. */
extern const struct pc_progress_listener *pc_progress_listener;

static inline void pc_progress_begin(const char *doing, const char *what, uint64_t done,
                                     uint64_t all)
{
    if (pc_progress_listener)
        pc_progress_listener->begin(doing, what, done, all);
}

static inline void pc_progress_end(void)
{
    if (pc_progress_listener)
        pc_progress_listener->end();
}

/* Replaces the step that the caller has begun. */
static inline void pc_progress_next(const char *doing, const char *what, uint64_t done,
                                    uint64_t all)
{
    pc_progress_end();
    pc_progress_begin(doing, what, done, all);
}

#endif
