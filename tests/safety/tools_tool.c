/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Another tool. As a preloaded library it counts calls of MPI_Barrier by MPI's profiling interface,
 * and prints the count in MPI_Finalize. As LD_AUDIT it counts the symbols that are bound, and
 * leaves them unchanged.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifdef AUDIT
#include <link.h>
#include <stdint.h>

static unsigned long n_bound;

unsigned int la_version(unsigned int version);
unsigned int la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie);
uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
                       unsigned int *flags, const char *name);

unsigned int la_version(unsigned int version)
{
    return version;
}

unsigned int la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{
    (void)map, (void)id, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
                       unsigned int *flags, const char *name)
{
    (void)index, (void)from, (void)to, (void)flags, (void)name;
    n_bound++;
    return symbol->st_value;
}
#else
#include <mpi.h>
#include <stdio.h>

static int n_barriers;

int MPI_Barrier(MPI_Comm comm)
{
    n_barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "the other tool: %d\n", n_barriers);
    return PMPI_Finalize();
}
#endif
