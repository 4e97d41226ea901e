/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the cache of symbols (symbols.c) and the reader of one file (symbols_dw.c, built with
 * libdw only).
 */
#ifndef PCT_SYMBOLS_PRIVATE_H
#define PCT_SYMBOLS_PRIVATE_H

#include "analysis/symbols/symbols.h"

#define PCT_MAX_INLINED 128u

struct pct_dw;

/* Opens a file and its separate debug information. NULL if it is not ELF or not readable: the text
 * says why. */
struct pct_dw *pct_dw_open(const char *path, struct pc_error *error);
void pct_dw_close(struct pct_dw *d);

/* The build-id of the file: returns its length, 0 without. */
size_t pct_dw_build_id(struct pct_dw *d, const uint8_t **id_out);

/* Best grade that the file can give: LINES, FUNCTIONS or NONE. */
enum pct_symbols_state pct_dw_state(struct pct_dw *d);

/* Units whose functions are in a split file (.dwo) that is not there, or in a package of them
 * (.dwp) that this libdw does not read: libdw 0.188 reads none. */
size_t pct_dw_missing(const struct pct_dw *d);

/* The functions at a link-time address, outermost first, at most n; 0 if nothing is known. */
size_t pct_dw_find(struct pct_dw *d, uint64_t address, struct pct_pool *pool,
                   struct pct_frame *frames, size_t n);

/* The bounds of the function that pct_dw_find names first; false: it finds none. */
bool pct_dw_bounds(struct pct_dw *d, uint64_t address, uint64_t *lo_out, uint64_t *hi_out);

/* ---- unwind_dw.c ---- */

/* The bounds of the function that has a link-time address, by the tables for exceptions; false: not
 * known. */
bool pct_dw_unwind(struct pct_dw *d, uint64_t address, uint64_t *lo_out, uint64_t *hi_out);

/* ---- starts_dw.c ---- */

/* The name of the function without a symbol at a link-time address: "main", whose name a stripped
 * program does not have, or NULL. *begin_out: where it begins; 0: not known. */
const char *pct_dw_begin(struct pct_dw *d, uint64_t address, uint64_t *begin_out);

/* ---- tail_calls.c ---- */

struct pct_tails;

/* Names are interned in the pool, which must be the same for all files that are compared with each
 * other. */
struct pct_tails *pct_tails_new(struct pct_dw *d, struct pct_pool *pool);
void pct_tails_free(struct pct_tails *t);

/* The function that was reached, with all its possible identities. */
enum { PCT_CALLEE_IDS = 16 };
struct pct_callee {
    const void *id[PCT_CALLEE_IDS];
    size_t n;
};

/* The function at a link-time address. Its identities are interned names, since it may have
 * several, or an address that is unique to it; none if it is unknown. */
struct pct_callee pct_tails_identify(struct pct_tails *t, uint64_t address);

/* The frames, at most n, that tail calls removed between the call that returns to a link-time
 * address and the callee, outermost first; 0 if there are none, or if they are ambiguous. */
size_t pct_tails_find(struct pct_tails *t, uint64_t return_address, const struct pct_callee *callee,
                      struct pct_frame *frames, size_t n);

/* ---- remarks.c asks symbols.c ---- */

/* Kinds of what is missing of a module that matters. It lacks names if less than half of its
 * computation is in functions that have one. */
enum pct_lack { PCT_LACKS_NOTHING, PCT_LACKS_LINES, PCT_LACKS_NAMES };
enum pct_lack pct_symbols_lack(const struct pct_symbols *s, uint32_t module);

/* The share of the computation in a module; false: modules were not weighed. */
bool pct_symbols_share(const struct pct_symbols *s, uint32_t module, pc_u128 *share_out);

/* The part of the computation in a module that is in functions with names; 0: not known, or none.
 */
pc_u128 pct_symbols_named_share(const struct pct_symbols *s, uint32_t module);

/* True if places of the module are stored and its file, which was looked for, is not here. */
bool pct_symbols_is_elsewhere(const struct pct_symbols *s, uint32_t module);

/* Reason why the file of a module was not read, and what to do; or NULL. */
const char *pct_symbols_fault(const struct pct_symbols *s, uint32_t module);

const struct pc_profile *pct_symbols_profile(const struct pct_symbols *s);

/* A copy of the text that s owns. */
const char *pct_symbols_keep(const struct pct_symbols *s, const char *text);

/* ---- origin.c ---- */

/* True for a file that comes with the system: who runs it did not compile it. */
bool pct_origin_is_of_system(const char *path);

/* True for the C library, the loader, MPI, pcollect and the runtimes of languages and threads: how
 * they work inside is not the users' business. */
bool pct_origin_is_closed(const struct pc_profile_module *m);

/* Takes file, line and inlined calls from functions of a closed module whose source is not on this
 * machine; returns the number of frames that are left. */
size_t pct_origin_withhold(const struct pc_profile_module *m, struct pct_frame *frames, size_t n);

/* ---- symbols_fetch.c ---- */

enum pct_fetch { PCT_FETCH_DEBUGINFO, PCT_FETCH_EXECUTABLE, PCT_N_FETCHES };

/* A file on this machine with what the servers have for a build-id of n bytes; its path is kept in
 * the pool. NULL: *why_out says why. May wait for the network. */
const char *pct_fetch(enum pct_fetch what, const uint8_t *id, size_t n, struct pct_pool *pool,
                      const char **why_out);

/* ---- symbols_stored.c ---- */

/* Key of a place: an address, or an address whose call has reached another one, or an
 * MPI function. */
struct pct_spot {
    uint32_t module;
    uint32_t callee_module; /* PC_NO_INDEX: the address alone; PCT_CALLEE_OP: an MPI function */
    uint64_t offset;
    uint64_t callee; /* offset in callee_module, or index of the MPI function */
};
#define PCT_CALLEE_OP (PC_NO_INDEX - 1)

/* Passes every place that is stored in the profile, addresses first. The receiver frees the frames;
 * their strings belong to the profile. The place of a call has the frames that tail calls
 * removed. */
typedef void (*pct_stored_fn)(struct pct_symbols *s, struct pct_spot spot, struct pct_place place);
void pct_stored_load(struct pct_symbols *s, const struct pc_profile *p, struct pct_pool *pool,
                     pct_stored_fn take);

/* All places that were looked up, in modules whose symbols could be read; of calls only those with
 * frames that tail calls removed. */
void pct_symbols_each(const struct pct_symbols *s,
                      void (*take)(void *arg, struct pct_spot spot, struct pct_place place),
                      void *arg);

#endif
