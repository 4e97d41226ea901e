/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sentences in lines of a width, and sets of numbers in them.
 */
#ifndef PCT_SENTENCE_H
#define PCT_SENTENCE_H

#include "analysis/buffer.h"

#include <stdio.h>

/* Prints a text in lines of at most `width` columns, 0: one line; lines after the first begin with
 * `indent` blanks, and the first is shorter by as much. Ends the last line. */
void pct_print_sentence(FILE *out, size_t width, int indent, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Appends the numbers from first to last as "5", "5,6", "0-3", with `between` instead of the
 * comma. */
void pct_print_run(struct pct_buf *b, long long first, long long last, const char *between);

/* Appends ascending numbers as "0-3,5,6", with `between` instead of the comma, at most a given
 * number of runs. Returns how many numbers were appended. */
size_t pct_print_set(struct pct_buf *b, const int *numbers, size_t n, const char *between,
                     size_t most);

/* Appends a moment since 1970 in ns as "2026-01-31 12:00:00 +0000", by the reader's clock; 0:
 * nothing. */
void pct_print_moment(struct pct_buf *b, uint64_t ns);

#endif
