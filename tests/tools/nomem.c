/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into a command, for tests: call number PC_NOMEM_AT of malloc, calloc or realloc fails,
 * and with PC_NOMEM_STAYS all calls after it fail, too. Calls are counted from the first one for at
 * least PC_NOMEM_BYTES bytes.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static bool is_refused(size_t n)
{
    static long at = -1, calls;
    static size_t least;
    static bool stays;
    if (at < 0) {
        const char *text = getenv("PC_NOMEM_AT"), *bytes = getenv("PC_NOMEM_BYTES");
        at = text ? atol(text) : 0;
        least = bytes ? (size_t)atol(bytes) : 0;
        stays = getenv("PC_NOMEM_STAYS") != NULL;
    }
    if (!at || n < least)
        return false;
    calls++;
    if (calls != at && !(stays && calls > at))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    return is_refused(n) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return is_refused(n * size) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return is_refused(n) ? NULL : __libc_realloc(p, n);
}
