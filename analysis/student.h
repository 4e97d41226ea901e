/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Student's t: intervals of means, tests of differences. MT-safe.
 */
#ifndef PCT_STUDENT_H
#define PCT_STUDENT_H

#include <stddef.h>

/* Two-sided chance that |t| exceeds this one. */
double pct_student_tail(double t, double freedom);

/* Bound that |t| stays below with probability 0.95; infinity without a degree of freedom. */
double pct_student_95(size_t freedom);

/* Half of the 95 % interval of the mean of n values of this standard deviation; -1: one value. */
double pct_student_error(double deviation, size_t n);

/* Bound that a normal variable exceeds with this chance. */
double pct_normal_above(double chance);

#endif
