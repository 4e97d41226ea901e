/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A pool of zero-filled memory that is freed as a whole. Not AS-safe; a pool belongs to one thread.
 */
#ifndef PC_POOL_H
#define PC_POOL_H

#include "format/bytes.h"

#include <stdbool.h>
#include <stddef.h>

struct pc_pool;

struct pc_pool *pc_pool_new(void); /* NULL: no memory */
void pc_pool_free(struct pc_pool *pool);

/* n elements of `size` bytes, aligned to 16, zero-filled; NULL: no memory, or n * size overflows.
 * For n = 0 the result is an address other than NULL. */
void *pc_pool_array(struct pc_pool *pool, size_t n, size_t size);

/* n bytes that are not aligned; a reader may read 8 bytes more. NULL: no memory. */
uint8_t *pc_pool_bytes(struct pc_pool *pool, size_t n);

/* Takes over memory of malloc, which is freed with the pool; NULL is nothing. False: no memory, and
 * it was freed. */
bool pc_pool_adopt(struct pc_pool *pool, void *data);

/* A terminated copy of n bytes, or NULL. */
char *pc_pool_text(struct pc_pool *pool, const char *text, size_t n);

/* A copy of the next text; errors in the data are noted in the cursor. NULL: no memory. */
char *pc_get_text(struct pc_pool *pool, struct pc_cursor *c);

#endif
