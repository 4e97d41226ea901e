/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pool of a profile: a list of blocks from malloc, each used from its start, and from its end
 * for what is not aligned. Small requests share a block, large ones get their own, so that little
 * is wasted in either case.
 */
#include "format/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN_BYTES ((size_t)8 << 10)
#define BLOCK_MAX_BYTES ((size_t)1 << 20)
#define ALIGN ((size_t)16)

struct block {
    struct block *next;
    size_t padding;
};

struct adopted {
    struct adopted *next;
    void *data;
};

struct pc_pool {
    struct block *blocks;
    struct adopted *adopted; /* in the blocks */
    char *free_bytes;        /* of the block in use; aligned */
    size_t n_free;
    size_t next_bytes;
};

struct pc_pool *pc_pool_new(void)
{
    struct pc_pool *pool = calloc(1, sizeof *pool);
    if (pool)
        pool->next_bytes = BLOCK_MIN_BYTES;
    return pool;
}

void pc_pool_free(struct pc_pool *pool)
{
    if (!pool)
        return;
    for (struct adopted *a = pool->adopted; a; a = a->next)
        free(a->data);
    for (struct block *b = pool->blocks; b;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    free(pool);
}

static char *add_block(struct pc_pool *pool, size_t bytes)
{
    struct block *b = calloc(1, sizeof *b + bytes + sizeof(uint64_t));
    if (!b)
        return NULL;
    b->next = pool->blocks;
    pool->blocks = b;
    return (char *)(b + 1);
}

/* Begins a block that small requests share. */
static bool begin_block(struct pc_pool *pool)
{
    char *fresh = add_block(pool, pool->next_bytes);
    if (!fresh)
        return false;
    pool->free_bytes = fresh;
    pool->n_free = pool->next_bytes;
    if (pool->next_bytes < BLOCK_MAX_BYTES)
        pool->next_bytes *= 2;
    return true;
}

void *pc_pool_array(struct pc_pool *pool, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX - 4096)
        return NULL;
    bytes = (bytes + ALIGN - 1) & ~(ALIGN - 1);
    if (bytes > pool->n_free) {
        if (bytes >= pool->next_bytes / 2)
            return add_block(pool, bytes ? bytes : ALIGN);
        if (!begin_block(pool))
            return NULL;
    }
    void *out = pool->free_bytes;
    if (!out)
        return add_block(pool, ALIGN);
    pool->free_bytes += bytes;
    pool->n_free -= bytes;
    return out;
}

uint8_t *pc_pool_bytes(struct pc_pool *pool, size_t n)
{
    if (n > pool->n_free || !pool->free_bytes) {
        if (n >= pool->next_bytes / 2)
            return pc_pool_array(pool, n, 1);
        if (!begin_block(pool))
            return NULL;
    }
    pool->n_free -= n;
    return (uint8_t *)pool->free_bytes + pool->n_free;
}

bool pc_pool_adopt(struct pc_pool *pool, void *data)
{
    struct adopted *a = data ? pc_pool_array(pool, 1, sizeof *a) : NULL;
    if (!a) {
        free(data);
        return !data;
    }
    *a = (struct adopted){pool->adopted, data};
    pool->adopted = a;
    return true;
}

char *pc_pool_text(struct pc_pool *pool, const char *text, size_t n)
{
    char *out = n < SIZE_MAX ? pc_pool_array(pool, n + 1, 1) : NULL;
    if (out && n)
        memcpy(out, text, n);
    return out;
}

char *pc_get_text(struct pc_pool *pool, struct pc_cursor *c)
{
    uint64_t n = pc_get_varint(c);
    const uint8_t *at = pc_get_bytes(c, n);
    if (at && memchr(at, 0, n)) {
        c->failed = true;
        at = NULL;
    }
    return pc_pool_text(pool, (const char *)at, at ? n : 0);
}
