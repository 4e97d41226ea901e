/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `merge RANKS CONTEXTS DIFFER WHOSE NEIGHBOURS VALUES_MIB FILE`: the reduction of a job in
 * MPI_Finalize (merge_tree.h) over simulated ranks (merge_ranks.h), with CONTEXTS contexts each, of
 * which DIFFER percent are not on all ranks: they are a rank's `own`, or those of its `place` in a
 * grid; NEIGHBOURS is 26 or 0; values by rank of all may take VALUES_MIB; 0: all are kept, in
 * shares. Rank 0 writes FILE, and ranks their shares. Prints the processor time on the critical
 * path, the memory of ranks, the bytes of messages and of the file, and what messages of 8 bytes a
 * number would take.
 */
#include "bench/merge_ranks.h"
#include "bench/merge_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define MIB 1048576.0

/* Values that a rank writes when the file is there. */
struct share {
    struct pc_reduced of;
    int32_t rank;
};

struct run {
    struct merge_ranks ranks;
    const char *path;
    uint32_t n_records, n_exact, n_steps;
    struct share *shares;
    uint32_t n_shares;
    uint64_t job_key;
    double share_s; /* processor time of the rank that takes longest to write its share */
    int err;
    struct pc_error error;
};

static struct pc_profile *make(void *arg, int32_t rank)
{
    const struct run *r = arg;
    return merge_ranks_make(&r->ranks, rank);
}

static void take_share(void *arg, int32_t rank, const struct pc_reduced *reduced)
{
    struct run *r = arg;
    r->shares = realloc(r->shares, (r->n_shares + 1) * sizeof *r->shares);
    r->shares[r->n_shares++] = (struct share){*reduced, rank};
}

static void end(void *arg, struct pc_profile *sum)
{
    struct run *r = arg;
    r->err = pc_pcol_write(sum, r->path, PC_PCOL_LATE_SLOTS, &r->error);
    r->job_key = sum->job_key;
    pc_profile_free(sum);
}

/* Writes the shares, as their ranks do at once. */
static void write_shares(struct run *r)
{
    for (uint32_t i = 0; i < r->n_shares && !r->err; i++) {
        const struct share *s = &r->shares[i];
        const struct pc_share_target to = {.path = r->path,
                                           .job_key = r->job_key,
                                           .world_size = r->ranks.n_ranks,
                                           .first_rank = s->rank,
                                           .last_rank = s->of.last_rank};
        clock_t begin = clock();
        r->err = pc_pcol_write_share(&to, s->of.share, s->of.share_bytes, &r->error);
        double taken = (double)(clock() - begin) / CLOCKS_PER_SEC;
        r->share_s = taken > r->share_s ? taken : r->share_s;
        free(s->of.share);
    }
    free(r->shares);
}

/* Reads the file again. False: it is not the sum of all ranks. */
static bool check(struct run *r)
{
    struct pc_profile *p;
    r->err = pc_pcol_read_statistics(r->path, &p, &r->error);
    if (r->err)
        return false;
    bool agrees = merge_ranks_agree(&r->ranks, p);
    r->n_records = p->n_data;
    for (uint32_t i = 0; i < p->n_data; i++) {
        r->n_exact += p->data[i].kept == PC_KEPT_EXACT;
        r->n_steps += p->data[i].kept == PC_KEPT_STEPS;
    }
    pc_profile_free(p);
    return agrees;
}

/* Processor time for copying n bytes, at most 256 MiB at once; both buffers were touched before. */
static double copy_seconds(uint64_t n)
{
    size_t most = (size_t)256 << 20, piece = n < most ? (size_t)n : most;
    char *from = malloc(piece + 1), *to = malloc(piece + 1);
    memset(from, 1, piece + 1);
    memset(to, 2, piece + 1);
    clock_t begin = clock();
    for (uint64_t left = n; left; left -= left < piece ? left : piece)
        memcpy(to, from, left < piece ? left : piece);
    clock_t taken = clock() - begin;
    double s = to[piece / 2] == from[0] || !n ? (double)taken / CLOCKS_PER_SEC : 0;
    free(from);
    free(to);
    return s;
}

/* One line; bench/merge.sh has the head of the columns. */
static void print(const struct run *r, const char *differ, const struct merge_tree *t,
                  double file_mib)
{
    const struct merge_ranks *j = &r->ranks;
    uint64_t flat_bytes = t->n_numbers_0 * sizeof(uint64_t);
    printf("%8u %8u %4s %% %-5s %2d %8.2f %8.0f %8.2f %8.1f %8.2f %8.0f %8.0f %8.0f %8.0f %8u %8u "
           "%8u %8u %8.3f %8.1f %8.1f %8.1f\n",
           j->n_ranks, j->n_contexts, differ, j->own ? "own" : "place", j->neighbours ? 26 : 0,
           t->merged_s, t->merged_s / copy_seconds(t->n_bytes_0), t->counted_s, file_mib,
           t->ended_s - t->merged_s, (double)t->peak_bytes / MIB, (double)t->merge_bytes_0 / MIB,
           (double)t->peak_bytes_0 / MIB, (double)t->n_bytes / MIB, r->n_records, r->n_exact,
           r->n_steps, r->n_shares, r->share_s, (double)t->n_bytes_0 / MIB,
           (double)flat_bytes / MIB, t->merged_s / copy_seconds(flat_bytes));
}

static bool read_job(char **argv, struct run *r)
{
    uint32_t n_contexts = (uint32_t)strtoul(argv[2], NULL, 10);
    uint64_t differ = strtoul(argv[3], NULL, 10);
    r->ranks = (struct merge_ranks){
        .n_ranks = (uint32_t)strtoul(argv[1], NULL, 10),
        .n_contexts = n_contexts,
        .n_differ = (uint32_t)(n_contexts * differ / 100),
        .own = !strcmp(argv[4], "own"),
        .neighbours = strtoul(argv[5], NULL, 10) > 0,
        .values_bytes = strtoul(argv[6], NULL, 10) << 20,
        .contexts = 1000000, /* as [output] contexts if it is not set */
    };
    r->path = argv[7];
    return r->ranks.n_ranks && n_contexts && differ <= 100;
}

int main(int argc, char **argv)
{
    struct run r = {0};
    struct pc_error error = {""};
    struct stat file;
    if (argc != 8 || !read_job(argv, &r)) {
        fprintf(stderr, "merge RANKS CONTEXTS DIFFER own|place NEIGHBOURS VALUES_MIB FILE\n");
        return 2;
    }
    struct merge_tree tree = {
        .n_ranks = r.ranks.n_ranks, .make = make, .end = end, .share = take_share, .arg = &r};
    int err = merge_tree_run(&tree, &error);
    if (!err)
        write_shares(&r);
    if (err || r.err || stat(r.path, &file)) {
        fprintf(stderr, "merge: %s%s\n", error.text, r.error.text);
        return 1;
    }
    if (!check(&r)) {
        fprintf(stderr, "merge: the sum is wrong: %s\n", r.error.text);
        return 1;
    }
    print(&r, argv[3], &tree, (double)file.st_size / MIB);
    return 0;
}
