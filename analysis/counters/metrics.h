/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of meaningful ratios of events.
 */
#ifndef PCT_METRICS_H
#define PCT_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct pct_ratio_kind {
    const char *name;
    const char *part;  /* names of one event, separated by blanks: the first that was counted */
    const char *whole; /* names, as above; NULL: CPU time in ns */
    double scale;
    const char *unit; /* of part / whole * scale */
    const char *doc;
};

extern const struct pct_ratio_kind pct_ratio_kinds[];
extern const size_t pct_n_ratio_kinds;

/* Sides on which an event is counted, or-ed; OTHER: not specified. */
enum { PCT_SIDE_USER = 1, PCT_SIDE_KERNEL = 2, PCT_SIDE_OTHER = 4 };

/* The length of an event's name without its modifiers (`perf::CYCLES:u` counts only user cycles),
 * and the sides that they select. */
size_t pct_event_base(const char *event, unsigned *sides_out);

/* True if the event counts instructions, at least in user mode. */
bool pct_event_is_instructions(const char *event);

#endif
