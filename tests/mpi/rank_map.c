/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The map from ranks of a communicator to world ranks, filled by many threads at once: whatever
 * they enter, some words stay free, so that each search ends, and what was entered is found. Prints
 * "full 0" if that holds.
 */
#include "libcollect/mpi/adapter_comm.c"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 16, EACH = 64, SIZE = 32, ROUNDS = 200 };

const struct pc_core *pc_core;
void *const *pc_pmpi;
int pc_world_rank;
#if defined OPEN_MPI
struct pc_mpi_data pc_mpi_data;
#endif

static struct pc_rank_map *map;
static pthread_barrier_t together;

static void *enter_ranks(void *arg)
{
    uint32_t first = (uint32_t)(uintptr_t)arg * EACH;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&together);
        for (uint32_t i = 0; i < EACH; i++) {
            put_word(map, (uint64_t)(first + i + 1) << 32 | 7);
            find_word(map, first + i);
        }
        pthread_barrier_wait(&together);
        if (first == 0) {
            uint32_t used = 0;
            for (uint32_t i = 0; i < SIZE; i++)
                used += map->words[i] != 0;
            if (used != map->n || used != room_of(map)) {
                printf("full %u %u\n", used, map->n);
                exit(1);
            }
            clear_map(map);
        }
        pthread_barrier_wait(&together);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    map = calloc(1, sizeof *map + SIZE * sizeof map->words[0]);
    if (!map || pthread_barrier_init(&together, NULL, THREADS))
        return 1;
    map->mask = SIZE - 1;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, enter_ranks, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(map);
    puts("full 0");
    return 0;
}
