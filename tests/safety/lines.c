/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight threads make calls of MPI, one after the other. After the turn of each thread the main
 * thread compares the memory that the profiler may write to (data of its library and adapter, the
 * arena) with its earlier contents. Calls of the first turn are from new contexts. Only the part of
 * the arena after its header is compared then, because all threads allocate space and add modules.
 * Calls of the second turn are from known contexts. Prints for both turns how many threads have
 * changed memory, and how many cache lines more than one thread has written to.
 */
#include "include/pcollect/arena.h"
#include "tests/safety/quiet.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_THREADS = 8, LINE = 64, MAX_REGIONS = 32, DEPTH = 12 };

struct region {
    char *at;
    size_t bytes;
    size_t header_bytes;    /* of an arena, else 0 */
    char *before;           /* a copy */
    unsigned char *writers; /* of each line: the number of threads that wrote to it */
};

static struct region regions[MAX_REGIONS];
static int n_regions;
static pthread_barrier_t turn;

static __attribute__((noinline)) void descend(int depth, unsigned way, int rounds)
{
    int rank, x = 0;
    if (depth > 0) {
        if (way & 1)
            descend(depth - 1, way >> 1, rounds);
        else
            descend(depth - 1, way >> 1, rounds);
    } else {
        for (int i = 0; i < rounds; i++) {
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void call_from_everywhere(void)
{
    for (unsigned way = 0; way < 200; way++)
        descend(DEPTH, way, 6);
}

static void *work(void *number)
{
    for (int t = 0; t < 2 * N_THREADS; t++) {
        pthread_barrier_wait(&turn);
        if (t % N_THREADS == (int)(intptr_t)number)
            call_from_everywhere();
        pthread_barrier_wait(&turn);
    }
    pthread_barrier_wait(&turn); /* its end is noted in its record */
    return NULL;
}

static void find_regions(void)
{
    char line[4200], rights[8], path[4096];
    unsigned long from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps) && n_regions < MAX_REGIONS) {
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &from, &to, rights, path) != 4 ||
            rights[1] != 'w')
            continue;
        if (!strstr(path, "libpcollect") && !strstr(path, "/adapter-") && !strstr(path, ".arena"))
            continue;
        struct region *r = &regions[n_regions++];
        r->at = (char *)from;
        r->bytes = to - from;
        r->header_bytes = strstr(path, ".arena") ? sizeof(struct pcollect_arena_header) : 0;
        r->before = calloc(r->bytes, 1);
        r->writers = calloc(r->bytes / LINE, 1);
    }
    if (maps)
        fclose(maps);
}

/* Bytes to be compared. An arena is a sparse file, of which only the used part is read. */
static size_t used_bytes(const struct region *r)
{
    const struct pcollect_arena_header *h = (const void *)r->at;
    return (r->header_bytes ? h->used_bytes : r->bytes) / LINE * LINE;
}

static void remember(void)
{
    for (int i = 0; i < n_regions; i++)
        memcpy(regions[i].before, regions[i].at, used_bytes(&regions[i]));
}

/* Returns 1 if any byte has changed. */
static int note_changes(int contexts_only)
{
    int changed = 0;
    for (int i = 0; i < n_regions; i++) {
        struct region *r = &regions[i];
        size_t at = contexts_only ? (r->header_bytes + LINE - 1) / LINE * LINE : 0;
        if (contexts_only && !r->header_bytes)
            continue;
        for (; at < used_bytes(r); at += LINE)
            if (memcmp(r->at + at, r->before + at, LINE)) {
                r->writers[at / LINE]++;
                changed = 1;
            }
    }
    return changed;
}

static int shared_lines(void)
{
    int shared = 0;
    for (int i = 0; i < n_regions; i++)
        for (size_t line = 0; line < regions[i].bytes / LINE; line++) {
            shared += regions[i].writers[line] > 1;
            regions[i].writers[line] = 0;
        }
    return shared;
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    quiet_fake = 1;
    find_regions();
    pthread_barrier_init(&turn, NULL, N_THREADS + 1);
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int known = 0; known < 2; known++) {
        int traces = 0;
        for (int i = 0; i < N_THREADS; i++) {
            remember();
            pthread_barrier_wait(&turn);
            pthread_barrier_wait(&turn);
            traces += note_changes(!known);
        }
        printf("%s contexts: traces of %d threads, %d lines shared\n", known ? "known" : "new",
               traces, shared_lines());
    }
    pthread_barrier_wait(&turn);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    quiet_fake = 0;
    MPI_Finalize();
    return 0;
}
