/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of events: the module pcollect-events.so. Only this module needs PAPI and libpfm; it is
 * opened with RTLD_LOCAL when a name has to be looked up. The counting itself is in counting/.
 */
#ifndef PC_EVENTS_H
#define PC_EVENTS_H

#include "counting/counting.h"

#define PC_EVENTS_MODULE "pcollect-events.so"
#define PC_EVENTS_SYMBOL "pc_events_module"
#define PC_EVENTS_ABI 2u

enum pc_events_kind {
    PC_EVENTS_PRESET = 1, /* PAPI_TOT_INS: made by PAPI of one or several of the next kind */
    PC_EVENTS_NATIVE = 2, /* pmu::EVENT:UNIT_MASK of libpfm */
};

/* Texts live until the callback returns. */
struct pc_events_entry {
    uint32_t kind;
    uint32_t made; /* PRESET: 1 if this processor has the events that it is made of */
    const char *name;
    const char *doc;
};

struct pc_events_module {
    uint32_t abi, size;
    /* The counters of a name: a preset, a native event, or r<hex>, the processor's own code.
     * PC_ENOENT: there is no such name. PC_EARG: it exists, but cannot be counted this way, and the
     * text says why. pc_counting_try checks that it can be opened. */
    int (*find)(const char *name, struct pc_counting_event *out, struct pc_error *error);
    /* Calls fn for each event of this machine; stops if fn returns true. */
    void (*list)(bool (*fn)(void *arg, const struct pc_events_entry *entry), void *arg);
};

#endif
