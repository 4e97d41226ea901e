/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fresh memory from the kernel itself. A library may have put a function that takes a lock in the
 * place of mmap, as UCX does. A handler may have interrupted its owner, and in a forked child the
 * owner may be a thread that does not exist there.
 */
#define _GNU_SOURCE 1

#include "base/base.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Other systems take other arguments: mmap2 in pages, or a structure. */
#if defined __x86_64__ || defined __aarch64__ || defined __powerpc64__ || defined __riscv
#define BARE_MMAP 1
#endif

void *pc_map_memory(void *at, size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED | MAP_NORESERVE : 0);
#ifdef BARE_MMAP
    long p = syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0L);
    return p == -1 ? NULL : (void *)p;
#else
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
#endif
}
