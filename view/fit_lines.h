/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text with as many details as a number of lines has room for.
 */
#ifndef PCT_FIT_LINES_H
#define PCT_FIT_LINES_H

#include <stdio.h>

/* The least threshold, in thousandths of a percent. */
enum { PCT_LEAST_SHARE = 1000 };

/* Prints what has a share of `least` or more, in thousandths of a percent. */
typedef void pct_shares_fn(void *arg, FILE *out, unsigned least);

/* The number of lines that it prints. */
size_t pct_lines_of(pct_shares_fn *print, void *arg, unsigned least);

/* Finds the share with which pct_print_fitting prints. */
unsigned pct_fitting_share(size_t n_lines, pct_shares_fn *print, void *arg);

/* Prints with the least of 1, 2, 3, 5, 7, 10, 15, 20 and 30 % with which the text has no more than
 * n_lines lines, or with the last of them; if the text has more than twice as many even so, its
 * middle is left out, as that of a deep recursion. `print` may be called several times. */
void pct_print_fitting(FILE *out, size_t n_lines, pct_shares_fn *print, void *arg);

/* Prints the option that shows more, if pct_print_fitting has chosen more than the least threshold.
 */
void pct_print_hidden(FILE *out, unsigned least);

#endif
