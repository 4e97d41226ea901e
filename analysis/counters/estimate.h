/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates the total of a context, and its error, from its counts in windows of known length.
 * doc/internals/rotation.md derives the formulae.
 */
#ifndef PCT_ESTIMATE_H
#define PCT_ESTIMATE_H

#include "format/profile.h"

/* Moments of windows of one length: x events in t ns of the program's CPU time. */
struct pct_moments {
    uint64_t n;      /* windows that read the event */
    uint64_t weight; /* sum of their weights, used in all members below except `seen` */
    uint64_t seen;   /* windows of n with x > 0 */
    pc_u128 x, t, xx, tt, xt;
    uint64_t added; /* part of x that the windows add, in thousandths; not in estimates */
};

void pct_moments_add(struct pct_moments *to, const struct pct_moments *what);

/* Figures of an event in a context. */
struct pct_readings {
    struct pct_moments brief, lasting; /* windows of both lengths */
    bool by_difference;                /* most lasting ones stayed: better estimates */
};

/* The windows that an estimate uses: both lengths, or only brief ones. */
struct pct_moments pct_readings_used(const struct pct_readings *r);

/* CPU time for which a rate is extrapolated; variance 0: it is exact. */
struct pct_extent {
    double ns, variance;
};

enum pct_trust {
    PCT_TRUST_NONE,  /* never read here: no value at all, which is not 0 */
    PCT_TRUST_FEW,   /* fewer windows than PCT_FEW_READINGS, or than PCT_FEW_SEEN with an event */
    PCT_TRUST_MIXED, /* most windows that began here ended elsewhere: the others are the long stays
                      */
    PCT_TRUST_FULL
};

/* Below these no interval is given. */
enum { PCT_FEW_READINGS = 30, PCT_FEW_SEEN = 10 };

/* Standard errors common to all windows of a run, unless the difference of lengths is used: of the
 * length in ns, and of the added events in percent. */
enum { PCT_LENGTH_NS = 800, PCT_ADDED_PERCENT = 25 };

struct pct_estimate {
    enum pct_trust trust;
    uint64_t n;
    double value;
    double variance; /* FULL and MIXED only */
    double common;   /* relative standard error that all estimates of the context share */
    double error;    /* half of the 95 % interval from both; FULL only */
};

/* Events per ns, over an extent of `ns` of which the windows are a part. */
struct pct_estimate pct_estimate_rate(const struct pct_readings *r, double ns);

/* Events in the extent. */
struct pct_estimate pct_estimate_count(const struct pct_readings *r, struct pct_extent extent);

/* Ratio of two estimates of the same context: `part` per `whole`. FULL only if both are FULL. */
struct pct_estimate pct_estimate_ratio(const struct pct_estimate *part,
                                       const struct pct_estimate *whole);

/* Makes a FULL estimate MIXED if most windows did not stay. begun: windows that began in the
 * context; stayed: those of them that also ended there. */
void pct_estimate_mix(struct pct_estimate *e, uint64_t begun, uint64_t stayed);

/* "few", "mixed", or "". */
const char *pct_trust_text(enum pct_trust trust);

#endif
