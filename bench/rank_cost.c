/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `rank FILE ARENA...`: the merge of MPI_Finalize over the ranks of a job whose arenas are
 * given, in processes that are connected by pipes: each reads its arena, and rank 0 writes FILE.
 * Prints for each rank the processor time in ms and the pages that it touches first, for reading
 * the arena and for the reduction with the file. Callgrind counts the instructions of each process
 * (bench/rank.sh).
 */
#include "merge/merge.h"
#include "merge/route.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 64 };

struct rank {
    int number, n_ranks;
    int (*pipes)[MOST_RANKS][2]; /* [from][to] */
};

/* Reads or writes all n bytes. */
static int transfer(int fd, void *data, size_t n, bool writes)
{
    for (size_t done = 0; done < n;) {
        char *at = (char *)data + done;
        ssize_t more = writes ? write(fd, at, n - done) : read(fd, at, n - done);
        if (more <= 0)
            return PC_EIO;
        done += (size_t)more;
    }
    return PC_OK;
}

static int send_to(void *self, const void *data, size_t n, int to)
{
    const struct rank *r = self;
    int fd = r->pipes[r->number][to][1], err = transfer(fd, &n, sizeof n, true);
    return err ? err : transfer(fd, (void *)data, n, true);
}

static int receive_size(void *self, int from, size_t *n_out)
{
    const struct rank *r = self;
    return transfer(r->pipes[from][r->number][0], n_out, sizeof *n_out, false);
}

static int receive(void *self, void *data, size_t n, int from)
{
    const struct rank *r = self;
    return transfer(r->pipes[from][r->number][0], data, n, false);
}

struct cost {
    double ms;
    long pages;
};

static struct cost cost_so_far(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    double s = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
               (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
    return (struct cost){s * 1e3, r.ru_minflt};
}

/* An arena as it is in its process: all of its pages have been touched. NULL: no such file. */
static const struct pcollect_arena_header *map_arena(const char *path, size_t *n_out)
{
    struct stat file;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &file))
        return NULL;
    const char *base =
        mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    *n_out = (size_t)file.st_size;
    return base == MAP_FAILED ? NULL : (const void *)base;
}

static int run(struct rank *r, const char *arena, const char *path)
{
    size_t n;
    const void *base = map_arena(arena, &n);
    struct pc_error error = {"no arena"};
    struct pc_profile *mine = NULL;
    struct pc_reduced reduced = {.sum = NULL};
    struct pc_route route;
    pc_route_by_rank(&route, r->number, r->n_ranks);
    const struct pc_transport t = {.self = r,
                                   .rank = r->number,
                                   .n_ranks = r->n_ranks,
                                   .route = &route,
                                   .send = send_to,
                                   .receive_size = receive_size,
                                   .receive = receive};
    pc_merge_keep_memory();
    struct cost begin = cost_so_far();
    int err = base ? pc_merge_arena(base, n, PC_MERGE_MAIN, &mine, &error) : PC_ENOENT;
    struct cost made = cost_so_far();
    if (!err)
        err = pc_merge_reduce(&t, mine, &reduced, &error);
    if (!err && reduced.sum)
        err = pc_pcol_write(reduced.sum, path, PC_PCOL_LATE_SLOTS, &error);
    struct cost end = cost_so_far();
    if (err)
        fprintf(stderr, "rank: %s: %s\n", arena, error.text);
    else
        printf("%d %d %.1f %ld %.1f %ld\n", r->number, getpid(), made.ms - begin.ms,
               made.pages - begin.pages, end.ms - made.ms, end.pages - made.pages);
    return err != 0;
}

int main(int argc, char **argv)
{
    static int pipes[MOST_RANKS][MOST_RANKS][2];
    int n_ranks = argc - 2, failed = 0;
    if (n_ranks < 1 || n_ranks > MOST_RANKS) {
        fprintf(stderr, "rank FILE ARENA...\n");
        return 2;
    }
    for (int i = 0; i < n_ranks * n_ranks; i++)
        if (pipe(pipes[i / n_ranks][i % n_ranks]))
            return 1;
    for (int i = 0; i < n_ranks; i++)
        if (!fork()) {
            struct rank rank = {i, n_ranks, pipes};
            return run(&rank, argv[2 + i], argv[1]);
        }
    for (int i = 0, status; i < n_ranks; i++)
        failed |= wait(&status) < 0 || status;
    return failed;
}
