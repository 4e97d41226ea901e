/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private memory of the library: whole pages from mmap, so that the program's malloc is left alone.
 */
#include "libcollect/core_private.h"

#include <errno.h>
#include <sys/mman.h>

void *pc_memory(size_t bytes)
{
    int saved = errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

void pc_memory_free(void *memory, size_t bytes)
{
    int saved = errno;
    munmap(memory, bytes);
    errno = saved;
}
