/* SPDX-License-Identifier: BSD-3-Clause
 *
 * faults MODE PAGES [NUMBER]: touches new pages, one page fault each.
 *
 *     own                in the main thread
 *     threads            in NUMBER threads, one after the other, PAGES each
 *     processes          in NUMBER child processes, PAGES each
 *     evenly             spread over the CPU time of the run
 *     told               after a line on standard input: a half in a new thread, a half in a child;
 *                        then prints "touched", and ends with its input; all beside NUMBER - 1
 *                        threads that wait
 *     places             PAGES in a function `few`, three times as many in `many`
 *     rank               FILE in the place of NUMBER: makes FILE.RANK.ready, and waits for FILE.go;
 *                        touches (rank + 1) times PAGES, makes FILE.RANK.done, and ends when
 *                        FILE.end exists
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static inline __attribute__((always_inline)) void touch(size_t pages, unsigned rounds)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = pages * page;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        fail("mmap");
    madvise(p, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++) {
        p[i * page] = 1;
        for (volatile unsigned k = 0; k < rounds; k++)
            ;
    }
    munmap(p, bytes);
}

static void *touch_in_thread(void *pages)
{
    touch(*(size_t *)pages, 0);
    return NULL;
}

static void in_thread(size_t pages)
{
    pthread_t t;
    if (pthread_create(&t, NULL, touch_in_thread, &pages) || pthread_join(t, NULL))
        fail("pthread_create");
}

static void in_process(size_t pages)
{
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        touch(pages, 0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int few(size_t pages);
int many(size_t pages);

__attribute__((noinline)) int few(size_t pages)
{
    touch(pages, 0);
    return 1;
}

__attribute__((noinline)) int many(size_t pages)
{
    touch(pages, 0);
    return 2;
}

static void in_places(size_t pages)
{
    volatile int result = 0;
    for (size_t i = 0; i < pages; i += 100)
        result += few(100) + many(300);
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void when_told(size_t pages, int n_waiting)
{
    pthread_t t;
    for (int i = 0; i < n_waiting; i++)
        if (pthread_create(&t, NULL, wait_for_ever, NULL))
            fail("pthread_create");
    puts("waiting");
    fflush(stdout);
    char line[16];
    if (!fgets(line, sizeof line, stdin))
        return;
    in_thread(pages / 2);
    in_process(pages / 2);
    puts("touched");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        ;
}

static void make_file(const char *file, int rank, const char *suffix)
{
    char path[1000];
    snprintf(path, sizeof path, "%s.%d.%s", file, rank, suffix);
    FILE *f = fopen(path, "w");
    if (!f)
        fail(path);
    fclose(f);
}

static void wait_for_file(const char *file, const char *suffix)
{
    char path[1000];
    snprintf(path, sizeof path, "%s.%s", file, suffix);
    for (int left = 12000; access(path, F_OK) && left; left--)
        usleep(10000);
}

static void as_rank(size_t pages, const char *file)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    text = text ? text : getenv("PMI_RANK");
    int rank = text ? atoi(text) : 0;
    make_file(file, rank, "ready");
    wait_for_file(file, "go");
    touch(pages * (size_t)(rank + 1), 0);
    make_file(file, rank, "done");
    wait_for_file(file, "end");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    size_t pages = strtoul(argv[2], NULL, 10);
    const char *mode = argv[1], *more = argc > 3 ? argv[3] : "1";
    /* Little memory at a time: freeing much memory at the end takes a tenth of the run, without a
     * fault. */
    if (!strcmp(mode, "evenly"))
        for (size_t i = 0; i < pages; i += 200)
            touch(pages - i < 200 ? pages - i : 200, 80000);
    if (!strcmp(mode, "places"))
        in_places(pages);
    if (!strcmp(mode, "told"))
        when_told(pages, atoi(more) - 1);
    else if (!strcmp(mode, "rank"))
        as_rank(pages, more);
    for (int i = atoi(more); i > 0; i--)
        if (!strcmp(mode, "own"))
            touch(pages, 0);
        else if (!strcmp(mode, "threads"))
            in_thread(pages);
        else if (!strcmp(mode, "processes"))
            in_process(pages);
    return 0;
}
