/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program of two ranks that calls MPI_Barrier seven times and sends a message. Rank 0 prints
 * the data that it received. With -DOWN_MALLOC it has its own allocator, which the library must use
 * as well. With an argument it writes behind a block, which a sanitizer reports.
 */
#include <errno.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef OWN_MALLOC
/* Blocks are allocated and never reused; the size is stored before each. */
static _Atomic(char *) next;
static atomic_long n_blocks;

static void *take(size_t n, size_t align)
{
    size_t room = (n + 2 * align + 31) & ~(size_t)15;
    char *at = NULL;
    if (!next) {
        char *p = mmap(NULL, (size_t)1 << 31, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        atomic_compare_exchange_strong(&next, &at, p);
    }
    at = atomic_fetch_add(&next, room) + 16;
    at = (char *)(((size_t)at + align - 1) & ~(align - 1));
    ((size_t *)at)[-1] = n;
    n_blocks++;
    return at;
}

void *malloc(size_t n)
{
    return take(n, 16);
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t size)
{
    return take(n * size, 16); /* pages are zero and never used again */
}

void *realloc(void *p, size_t n)
{
    char *to = take(n, 16);
    size_t old = p ? ((size_t *)p)[-1] : 0;
    for (size_t i = 0; i < old && i < n; i++)
        to[i] = ((char *)p)[i];
    return to;
}

void *aligned_alloc(size_t align, size_t n)
{
    return take(n, align < 16 ? 16 : align);
}

void *memalign(size_t align, size_t n);
void *memalign(size_t align, size_t n)
{
    return aligned_alloc(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    *out = aligned_alloc(align, n);
    return 0;
}
#endif

int main(int argc, char **argv)
{
    int rank, n, got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    char *text = calloc(100, 1);
    strcpy(text, "hello");
    ((char volatile *)text)[argc > 1 ? 100 : 99] = '\0';
    MPI_Sendrecv(&rank, 1, MPI_INT, n - 1 - rank, 1, &got, 1, MPI_INT, n - 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (rank == 0)
        printf("%s %d\n", text, got == n - 1);
#ifdef OWN_MALLOC
    if (n_blocks < 100)
        return 9;
#endif
    free(text);
    return 0;
}
