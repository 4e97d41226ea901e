/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts for callers of the libraries, who print them to a terminal.
 */
#ifndef PC_ESCAPE_H
#define PC_ESCAPE_H

#include <stddef.h>

/* Copies a text, at most 512 bytes of it, as one line: control characters of names that it quotes
 * are written as \n, \t, \r or \x1b. The copy has at most n bytes, of which n is at least 64; if it
 * is too long, it loses its middle. AS-safe, MT-safe. */
void pc_escape_line(char *out, size_t n, const char *text);

#endif
