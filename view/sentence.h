/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sentences in lines of a width.
 */
#ifndef PCT_SENTENCE_H
#define PCT_SENTENCE_H

#include <stdio.h>

/* Prints a text in lines of at most `width` columns, 0: one line; each after the first begins with
 * `indent` blanks, for which the first has left room. Ends the last line. */
void pct_print_sentence(FILE *out, size_t width, int indent, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
