/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private memory of the library: whole pages from mmap, so that the program's malloc is left alone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* mremap */
#endif
#include "libcollect/state/state.h"

#include <errno.h>
#include <sys/mman.h>

void *pc_memory(size_t bytes)
{
    int saved = errno;
    void *p = pc_map_memory(NULL, bytes);
    errno = saved;
    return p;
}

/* The kernel moves whole pages: nothing is copied, nothing is touched a second time. */
void *pc_memory_grow(void *memory, size_t old_bytes, size_t new_bytes)
{
    int saved = errno;
    void *p = memory ? mremap(memory, old_bytes, new_bytes, MREMAP_MAYMOVE) : pc_memory(new_bytes);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

void pc_memory_free(void *memory, size_t bytes)
{
    int saved = errno;
    munmap(memory, bytes);
    errno = saved;
}
