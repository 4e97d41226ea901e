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

/* Finds separate debug information on this machine, as libdwfl asks for it; -1: there is none. */
int pct_file_names_find_debug(struct Dwfl_Module *module, void **user, const char *name,
                              uint64_t base, const char *file, const char *link, uint32_t checksum,
                              char **path_out);

/* NULL: the module has no file. Not MT-safe. */
struct pct_dw *pct_file_names_new(struct Dwfl_Module *module);
/* NULL is allowed. Before the module ends. */
void pct_file_names_free(struct pct_dw *file);

/* The name, as the linker knows it, of the function at an address of libdwfl; NULL: it has none. It
 * is valid as long as the file. */
const char *pct_file_names_function(struct pct_dw *file, uint64_t address);

#endif
