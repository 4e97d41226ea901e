/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts for callers of the libraries, who print them to a terminal.
 */
#ifndef PC_ESCAPE_H
#define PC_ESCAPE_H

enum { PC_LINE_BYTES = 512 }; /* as in struct pc_error, and in the errors of the libraries */

/* Copies a text, at most 512 bytes of it, as one line: control characters of names that it quotes
 * are written as \n, \t, \r or \x1b. If it becomes too long, it loses its middle. The two may be
 * the same. AS-safe, MT-safe. */
void pc_escape_line(char out[PC_LINE_BYTES], const char *text);

#endif
