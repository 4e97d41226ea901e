/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions that begin while another thread starts the collection.
 *
 *     early_regions MODULE     library whose constructor calls in_constructor()
 *
 * The library starts at the region of the main thread, and asks for the working folder meanwhile,
 * by a function of this program. There the same thread marks a region, as a signal handler would.
 * Then a second thread opens the module, and marks a region while it holds the loader's lock; the
 * first thread needs this lock to go on.
 */
#define _GNU_SOURCE 1

#include <dlfcn.h>
#include <pcollect/pcollect.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t starts, locked;
static atomic_bool is_first;

__attribute__((visibility("default"))) char *getcwd(char *out, size_t n)
{
    if (atomic_exchange(&is_first, false)) {
        pcollect_region_begin("inside");
        pcollect_region_end("inside");
        sem_post(&starts);
        sem_wait(&locked);
    }
    return syscall(SYS_getcwd, out, n) < 0 ? NULL : out;
}

__attribute__((visibility("default"))) void in_constructor(void);

void in_constructor(void)
{
    sem_post(&locked);
    pcollect_region_begin("constructor");
    pcollect_region_end("constructor");
}

static void *open_module(void *path)
{
    sem_wait(&starts);
    if (!dlopen(path, RTLD_NOW))
        printf("%s\n", dlerror());
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 2 || sem_init(&starts, 0, 0) || sem_init(&locked, 0, 0) ||
        pthread_create(&thread, NULL, open_module, argv[1]))
        return 2;
    is_first = true;
    pcollect_region_begin("outside");
    pcollect_region_end("outside");
    printf("%s\n", is_first ? "nobody asked for the folder" : "marked");
    fflush(stdout);
    pthread_join(thread, NULL);
    return 0;
}
