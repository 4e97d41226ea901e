/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between the cache of symbols (symbols.c) and the reader of one file (symbols_dw.c, built with
 * libdw only).
 */
#ifndef PCT_SYMBOLS_PRIVATE_H
#define PCT_SYMBOLS_PRIVATE_H

#include "report/symbols.h"

#define PCT_MAX_INLINED 128u

struct pct_dw;

/* Opens a file and its separate debug information. NULL if it is not ELF or not readable: the text
 * says why. */
struct pct_dw *pct_dw_open(const char *path, struct pc_error *error);
void pct_dw_close(struct pct_dw *d);

/* The build-id of the file: returns its length, 0 without. */
size_t pct_dw_build_id(struct pct_dw *d, const uint8_t **id_out);

/* What the file can tell at best: LINES, FUNCTIONS or NONE. */
enum pct_symbols_state pct_dw_state(struct pct_dw *d);

/* The functions at a link-time address, outermost first, at most n; 0 if nothing is known. */
size_t pct_dw_find(struct pct_dw *d, uint64_t address, struct pct_pool *pool,
                   struct pct_frame *frames, size_t n);

/* The readable form of a C++ name, or the name itself; kept in the pool. */
const char *pct_demangle(const char *name, struct pct_pool *pool);

#endif
