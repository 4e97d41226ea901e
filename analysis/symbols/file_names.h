/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions in a file that its user has opened with libdwfl: by the symbol tables, and of
 * functions that no symbol names as in reports. Built with libdw only.
 */
#ifndef PCT_FILE_NAMES_H
#define PCT_FILE_NAMES_H

#include <stdint.h>

struct Dwfl_Module;
struct pct_dw;

/* NULL: the module has no file. Not MT-safe. */
struct pct_dw *pct_file_names_new(struct Dwfl_Module *module);
/* NULL is allowed. Before the module ends. */
void pct_file_names_free(struct pct_dw *file);

/* The name, as the linker knows it, of the function at an address of libdwfl; NULL: it has none. It
 * is valid as long as the file. */
const char *pct_file_names_function(struct pct_dw *file, uint64_t address);

#endif
