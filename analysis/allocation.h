/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of analysis/ and view/: no function there checks an allocation. Their callers run them in
 * a run (libpcol in one for each call of its interface, the command in one for all of main): an
 * allocation that is refused ends the run, not the program, and pct_memory_run returns the error to
 * its caller.
 *
 * A run may have an owner, which holds everything that was allocated in its runs: after a refusal,
 * half-made objects are not used again, and pct_memory_free frees them as a whole. Objects of other
 * libraries are held with the function that frees them.
 *
 * No lock may be held and no file be open without an owner where something is allocated: the way
 * out is a longjmp. Nothing is printed here, and the program is not ended.
 */
#ifndef PCT_ALLOCATION_H
#define PCT_ALLOCATION_H

#include "base/base.h"

/* ---- Runs: for who calls analysis/ and view/ --------------------------------------------------
 */

struct pct_memory;

/* An owner; NULL without memory. MT-safe: each is used by one thread at a time. */
struct pct_memory *pct_memory_new(void);
/* Frees and ends all that it holds. NULL is allowed. */
void pct_memory_free(struct pct_memory *m);

/* Calls work(arg). PC_ENOMEM: an allocation was refused, and `work` was left at that point; every
 * later run of this owner is refused as well. m NULL: what was allocated stays with who has its
 * address. */
int pct_memory_run(struct pct_memory *m, void (*work)(void *arg), void *arg);

/* ---- In a run ---------------------------------------------------------------------------------
 */

/* n * size zero-filled bytes; never NULL. */
void *pct_alloc(size_t n, size_t size);

/* An allocated copy. */
char *pct_copy(const char *text);

/* Grows an array of elements of `size` bytes so that index n fits; returns its new place. */
void *pct_grow(void *array, size_t n, size_t *room, size_t size);

/* Memory that pct_alloc, pct_copy or pct_grow returned, or NULL. */
void pct_free(void *p);

/* Has the owner end what another library made: returns it. Where that is refused it is ended at
 * once. NULL is allowed. */
void *pct_hold(void *thing, void (*end)(void *thing));
/* Ends what is held, now. NULL is allowed. */
void pct_end(void *thing, void (*end)(void *thing));

/* Ends the run as an allocation does that is refused. The attribute is a part of the type that
 * libdw wants; _Noreturn is none. */
void pct_memory_refuse(void) __attribute__((noreturn));

#endif
