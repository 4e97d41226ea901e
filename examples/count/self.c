/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts a stretch of its own code, in two threads, and prints what each counted when it ended.
 *
 *     cc self.c $(pkg-config --cflags --libs libpccount) -pthread
 *     ./a.out page-faults,task-clock
 */
#include <pcollect/count.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pccount *count;

static void *touch_memory(void *megabytes)
{
    size_t n = (size_t)megabytes << 20;
    char *memory = malloc(n);
    if (pccount_begin(count))
        fprintf(stderr, "%s\n", pccount_why(count));
    for (size_t i = 0; memory && i < n; i += 64)
        ((volatile char *)memory)[i] = 1;
    pccount_end(count);
    free(memory);
    return NULL;
}

static void print_values(const char *whose, const struct pccount_values *v)
{
    for (size_t i = 0; i < pccount_n(count); i++)
        printf("%-8s %14llu  %s\n", whose, (unsigned long long)v->value[i], pccount_name(count, i));
}

static void print_thread(void *arg, const struct pccount_values *v)
{
    (void)arg;
    print_values("thread", v);
}

int main(int argc, char **argv)
{
    struct pccount_error why;
    struct pccount_values sum;
    pthread_t threads[2];
    count = pccount_new(argc > 1 ? argv[1] : "page-faults,task-clock", &why);
    if (!count)
        return fprintf(stderr, "%s\n", why.text), 1;
    pccount_at_thread_end(count, print_thread, NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, touch_memory, (void *)(16 * (i + 1)));
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (pccount_total(count, &sum))
        return fprintf(stderr, "%s\n", pccount_why(count)), 1;
    print_values("all", &sum);
    pccount_free(count);
    return 0;
}
