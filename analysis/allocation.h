/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of analysis/, view/, watch/ and command/. No function there checks an allocation: callers
 * call them inside a run (libpcol in one for each call of its interface, the command in one for all
 * of main). It goes to pct_free, never to free().
 * An allocation that is refused ends the run, not the program, and pct_memory_run returns the error
 * to its caller.
 *
 * A run may have an owner, which holds everything that was allocated in its runs: after a refusal,
 * incomplete objects are not used again, and pct_memory_free frees them as a whole. Objects of
 * other libraries are held with the function that frees them.
 *
 * A function that allocates must not hold a lock, or an open file without an owner: a refusal
 * leaves it by longjmp. Nothing is printed here, and the program is not ended.
 */
#ifndef PCT_ALLOCATION_H
#define PCT_ALLOCATION_H

#include "base/base.h"

/* ---- Runs: for callers of analysis/ and view/ ------------------------------------------------ */

struct pct_memory;

/* An owner; NULL without memory. MT-safe: each is used by one thread at a time. */
struct pct_memory *pct_memory_new(void);
/* Frees and ends all that it holds. NULL is allowed. */
void pct_memory_free(struct pct_memory *m);

/* Calls work(arg). PC_ENOMEM: an allocation was refused, and `work` was left at that point; every
 * later run of this owner is refused as well. m NULL: the caller owns the allocated memory. */
int pct_memory_run(struct pct_memory *m, void (*work)(void *arg), void *arg);

/* ---- In a run -------------------------------------------------------------------------------- */

/* n * size zero-filled bytes; never NULL. */
void *pct_alloc(size_t n, size_t size);

/* An allocated copy. */
char *pct_copy(const char *text);

/* Grows an array of elements of `size` bytes so that index n fits; returns its new place. */
void *pct_grow(void *array, size_t n, size_t *room, size_t size);

/* Frees memory that pct_alloc, pct_copy or pct_grow returned, or NULL. */
void pct_free(void *p);

/* Gives an object of another library to the owner, which ends it with everything else; returns it.
 * If that is refused, the object is ended at once. NULL is allowed. */
void *pct_hold(void *thing, void (*end)(void *thing));
/* Ends a held object now. NULL is allowed. */
void pct_end(void *thing, void (*end)(void *thing));

/* Ends the run like a refused allocation. The attribute is part of the function type that libdw
 * expects; _Noreturn is not. */
void pct_memory_refuse(void) __attribute__((noreturn));

#endif
