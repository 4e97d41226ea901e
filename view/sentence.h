/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sentences in lines of a width, and sets of numbers in them.
 */
#ifndef PCT_SENTENCE_H
#define PCT_SENTENCE_H

#include "analysis/buffer.h"

#include <stdio.h>

/* Prints a text in lines of at most `width` columns, 0: one line; each after the first begins with
 * `indent` blanks, for which the first has left room. Ends the last line. */
void pct_print_sentence(FILE *out, size_t width, int indent, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Appends ascending numbers as "0-3,5,6", with `between` in place of the comma: at most so many
 * runs. Returns how many numbers that are. */
size_t pct_print_set(struct pct_buf *b, const int *numbers, size_t n, const char *between,
                     size_t most);

#endif
