/* SPDX-License-Identifier: BSD-3-Clause
 *
 * crowd N [ROUNDS]: N threads at a time, which have all begun before the first one ends, repeated
 * ROUNDS times.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t all_here;

static void *wait_for_all(void *unused)
{
    pthread_barrier_wait(&all_here);
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    if (n < 1 || !threads || pthread_barrier_init(&all_here, NULL, (unsigned)n))
        return 1;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            if (pthread_create(&threads[i], NULL, wait_for_all, NULL))
                return 1;
        for (int i = 0; i < n; i++)
            pthread_join(threads[i], NULL);
    }
    free(threads);
    return 0;
}
