/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The code of watched processes: the files that they have mapped, with addresses, and copies of
 * these files in our own memory, so that the walker finds their unwind tables. A file is copied
 * once, for any number of processes.
 *
 * Nothing is read from a process itself. Nothing here is MT-safe.
 */
#ifndef PCT_CODE_FILES_H
#define PCT_CODE_FILES_H

#include "analysis/symbols/symbols.h"
#include "watch/code_names.h"

#include <sys/stat.h>

/* ---- Mappings -------------------------------------------------------------------------------- */

/* A mapping as the kernel reports it. */
struct pct_mapping {
    uint64_t lo, hi, offset; /* offset: of lo in the file */
    uint64_t inode;          /* of the file; 0: unknown */
    const char *path;
    bool code; /* it may be executed, as all that the kernel records */
};

/* Bytes of the path in the name of a file that could not be opened because it is gone; 0: it is no
 * such name. */
size_t pct_code_gone_bytes(const char *name);

/* ---- Files ----------------------------------------------------------------------------------- */

struct pct_code_files;

struct pct_code_files *pct_code_files_new(void);
void pct_code_files_free(struct pct_code_files *files); /* NULL is allowed */

/* Tells the symbols of a profile of these files where those are that processes in containers use,
 * and those that were removed or replaced, of the files that are kept open: the first 500, or as
 * many as a quarter of the limit of open files, without the oldest if descriptors ran out. While
 * `files` lives. */
void pct_code_files_show(const struct pct_code_files *files, const struct pc_profile *p,
                         struct pct_symbols *symbols);

/* True if a file could not be opened because there were too few descriptors. */
bool pct_code_files_starved(const struct pct_code_files *files);

/* Number of files of which the names know nothing, because there was no memory to map
 * them. */
size_t pct_code_files_unnamed(const struct pct_code_files *files);

/* The name of a module in profiles: the path of its file. Of several files without a build-id that
 * had one path, only the first has that name. Valid as long as `files`. */
const char *pct_code_module_name(const struct pct_code_files *files,
                                 const struct pc_module *module);

/* Functions, symbols and rules of the files. */
struct pct_code_names *pct_code_files_names(struct pct_code_files *files);

/* True for the entry point of a file, to which the kernel jumps. It has no caller, which unwind
 * tables need not say. */
bool pct_code_is_entry(const struct pc_module *module, uintptr_t pc);

/* ---- Code that a process has mapped ---------------------------------------------------------- */

struct pct_code {
    struct pct_code_range *ranges; /* ascending */
    size_t n, room;
    bool makes; /* some of it was in no file */
};

/* Notes a mapping that may be executed; it replaces those that it covers. */
void pct_code_map(struct pct_code *c, struct pct_code_files *files, int pid,
                  const struct pct_mapping *m);
/* Reads the current mappings of a process, and reports each executable one. False: it cannot be
 * read; errno says why. */
bool pct_code_read(struct pct_code *c, struct pct_code_files *files, int pid,
                   void (*tell)(void *arg, const struct pct_mapping *m), void *arg);
void pct_code_copy(struct pct_code *to, const struct pct_code *from);
void pct_code_clear(struct pct_code *c);
void pct_code_free(struct pct_code *c);

/* True for an address in any mapping. */
bool pct_code_is_mapped(const struct pct_code *c, uint64_t pc);

/* Name of a file that could not be opened, with the reason behind it, and the offset of an address
 * in it; NULL: the address is in no such file. Valid as long as the files. */
const char *pct_code_gone(const struct pct_code *c, uint64_t pc, uint64_t *offset);

/* True for code in anonymous memory: the process has made it. */
bool pct_code_is_made(const struct pct_code *c, uint64_t pc);

/* True for code whose functions are taken to have frame pointers where they have no unwind table:
 * made code, and that of Go. */
bool pct_code_has_pointers(const struct pct_code *c, uint64_t pc);

/* Our address of the code, which may be read there; 0: it belongs to no file, the file cannot be
 * read, or its program headers do not load that part of it. */
uintptr_t pct_code_here(const struct pct_code *c, uint64_t pc);

#endif
