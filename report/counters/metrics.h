/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ratios of events mean something: one table.
 */
#ifndef PCT_METRICS_H
#define PCT_METRICS_H

#include <stddef.h>

struct pct_ratio_kind {
    const char *name;
    const char *part;  /* names of one event, separated by blanks: the first that was counted */
    const char *whole; /* likewise; NULL: CPU time in ns */
    double scale;
    const char *unit; /* of part / whole * scale */
    const char *doc;
};

extern const struct pct_ratio_kind pct_ratio_kinds[];
extern const size_t pct_n_ratio_kinds;

#endif
