/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store of requests without an MPI (libcollect/mpi/adapter_table.c is linked in). Fills it with
 * N requests whose handles are like those of the MPI, then makes, finds and completes 10,000 more
 * in `measured`, for an instruction counter. Prints "N BYTES LEFT LOST": the bytes of memory
 * touched for each request, the requests that a walk over the store finds in the end, and the
 * receives that were counted as lost.
 */
#include "libcollect/mpi/adapter_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEASURED = 10000, MAX_REGIONS = 20000 };

#if defined OPEN_MPI
/* Handles are addresses of objects in the heap. The smallest request of Open MPI 4.1 has more bytes
 * than the distance used here. */
static uint64_t key_of(uint64_t i)
{
    return UINT64_C(0x7f1234560040) + i * 512;
}
struct pc_mpi_data pc_mpi_data;
#else
static uint64_t key_of(uint64_t i)
{
    return UINT64_C(0xec000000) + i;
}
#endif

static struct {
    void *at;
    size_t bytes;
} regions[MAX_REGIONS];
static int n_regions;

static void *memory(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (bytes + page - 1) / page * page;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || n_regions == MAX_REGIONS)
        abort();
    regions[n_regions].at = p;
    regions[n_regions++].bytes = bytes;
    return p;
}

static uint64_t n_lost;

static void lose(enum pcollect_lost what, uint64_t n)
{
    n_lost += what == PCOLLECT_LOST_RECEIVES ? n : 0;
}

static uint64_t touched(void)
{
    static unsigned char pages[1 << 16];
    uint64_t n = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < n_regions; i++) {
        size_t n_pages = regions[i].bytes / page;
        if (n_pages > sizeof pages || mincore(regions[i].at, regions[i].bytes, pages))
            abort();
        for (size_t k = 0; k < n_pages; k++)
            n += pages[k] & 1;
    }
    return n * page;
}

const struct pc_core *pc_core;

static void add(struct pc_request_table *t, uint64_t i)
{
    struct pc_request *r = pc_table_new(t, key_of(i));
    if (!r)
        abort();
    r->start.begin = i;
    if (!pc_table_link(t, r, key_of(i), PC_REQUEST_LINKED | PC_REQUEST_ACTIVE | PC_REQUEST_RECEIVE))
        abort();
}

static void drop(struct pc_request_table *t, uint64_t i)
{
    struct pc_remembered found;
    pc_table_find(key_of(i), &found);
    if (!found.record || found.start.begin != i)
        abort();
    pc_table_take(t, &found);
}

void measured(struct pc_request_table *t, uint64_t first);

__attribute__((noinline)) void measured(struct pc_request_table *t, uint64_t first)
{
    for (uint64_t i = first; i < first + MEASURED; i++) {
        add(t, i);
        drop(t, i - MEASURED);
    }
}

static void count(const struct pc_request *r, void *arg)
{
    (void)r;
    ++*(uint64_t *)arg;
}

int main(int argc, char **argv)
{
    static struct {
        char slot[64];
    } thread;
    static const struct pc_core core = {.memory = memory, .lost = lose};
    pc_core = &core;
    struct pc_call call = {.thread = (struct pc_thread *)&thread};
    struct pc_request_table *t = pc_table_of(&call);
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : MEASURED;
    uint64_t before = touched(), left = 0;
    for (uint64_t i = 0; i < n; i++)
        add(t, i);
    uint64_t bytes = (touched() - before) / n;
    measured(t, n); /* the first time touches the memory */
    measured(t, n + MEASURED);
    pc_table_each(count, &left);
    /* A handle that MPI reuses drops the earlier request of that handle, which is counted as lost.
     */
    add(t, n + 2 * MEASURED - 1);
    printf("%lu %lu %lu %lu\n", (unsigned long)n, (unsigned long)bytes, (unsigned long)left,
           (unsigned long)n_lost);
    return 0;
}
