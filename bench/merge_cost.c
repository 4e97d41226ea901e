/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `merge RANKS CONTEXTS OWN VALUES_MIB [PER_RANK]`: the reduction of a job in MPI_Finalize, its
 * ranks threads of this process, messages in memory (tests/merge/net.h). Each rank has CONTEXTS
 * contexts, of which OWN percent no other has. Prints the processor time of all ranks together, the
 * bytes that went up and down the tree, what copying them takes, the records with values by rank,
 * and the most memory of the process, in which all ranks are.
 */
#include "format/build.h"
#include "merge/merge.h"
#include "tests/merge/net.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { RECEIVED, SENT, COUNT, DURATIONS, MAX, MIN, TIME, N_FIELDS };
enum { BINS = 40 };

struct job {
    uint32_t n_ranks, n_contexts, own_percent, per_rank;
    uint64_t values_bytes;
    struct pc_profile *result;
    double rank_0_s;
};

static struct pc_profile_field fields[N_FIELDS] = {
    [RECEIVED] = {(char *)"time", (char *)"bytes_received", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
                  0},
    [SENT] = {(char *)"time", (char *)"bytes_sent", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0, 0},
    [COUNT] = {(char *)"time", (char *)"count", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0, 0},
    [DURATIONS] = {(char *)"time", (char *)"durations", PCOLLECT_HIST, PCOLLECT_UNIT_NS, BINS, 0},
    [MAX] = {(char *)"time", (char *)"max", PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0, 0},
    [MIN] = {(char *)"time", (char *)"min", PCOLLECT_MIN, PCOLLECT_UNIT_NS, 0, 0},
    [TIME] = {(char *)"time", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0, 0},
};
static struct pc_profile_module module = {
    .path = (char *)"/nowhere/app", .flags = PCOLLECT_MODULE_EXE, .identity = 1};
static struct pc_profile_op op = {(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};

static uint64_t random_of(uint64_t rank, uint64_t context, uint64_t below)
{
    return pc_hash_u64(rank * 1000003 + context) % below;
}

static void make_record(struct pc_profile *p, struct pc_profile_data *d, int32_t rank, uint32_t i)
{
    if (!pc_profile_data_init(p, d, PCOLLECT_NODE_OP, 1))
        exit(2);
    uint64_t calls = 1 + i % 1000, mean = 1000 + random_of(1u << 31, i, 1000000);
    uint64_t time = mean * calls * (90 + random_of((uint64_t)rank, i, 20)) / 100;
    const uint64_t values[N_FIELDS] = {8 * calls, 8 * calls, calls, 0, 3 * mean, mean / 2, time};
    d->ranks[0] = rank;
    memcpy(d->values, values, sizeof values);
    d->bins[DURATIONS][20] = calls;
    pc_profile_data_derive(p, d);
}

/* The contexts that all have come first, those of this rank behind them. */
static struct pc_profile *make_profile(const struct job *j, int32_t rank)
{
    struct pc_profile *p = pc_profile_new();
    uint32_t n_own = (uint32_t)((uint64_t)j->n_contexts * j->own_percent / 100);
    p->n_ranks = p->n_modules = p->n_ops = 1;
    p->world_size = j->n_ranks;
    p->job_key = 1;
    p->per_rank = j->per_rank;
    p->values_bytes = j->values_bytes;
    p->n_fields = p->n_comm = N_FIELDS;
    p->fields = fields;
    p->modules = &module;
    p->ops = &op;
    p->ranks = pc_pool_array(p->memory, 1, sizeof *p->ranks);
    p->ranks[0] = (struct pc_profile_rank){.rank = rank, .pid = 1, .host = (char *)"node"};
    p->nodes = pc_pool_array(p->memory, 1 + 2 * (size_t)j->n_contexts, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, j->n_contexts, sizeof *p->data);
    const struct pc_profile_node none = {
        .module = PC_NO_INDEX, .op = PC_NO_INDEX, .data = PC_NO_INDEX};
    p->nodes[0] = none;
    p->nodes[0].parent = PC_NO_INDEX;
    p->nodes[0].kind = PCOLLECT_NODE_ROOT;
    p->n_nodes = 1;
    for (uint32_t i = 0; i < j->n_contexts; i++) {
        struct pc_profile_node *frame = &p->nodes[p->n_nodes], *call = frame + 1;
        *frame = *call = none;
        frame->kind = PCOLLECT_NODE_FRAME;
        frame->module = 0;
        frame->offset =
            16 * (uint64_t)i + (i < j->n_contexts - n_own ? 0 : ((uint64_t)rank + 1) << 32);
        call->kind = PCOLLECT_NODE_OP;
        call->op = 0;
        call->parent = p->n_nodes;
        call->data = i;
        make_record(p, &p->data[i], rank, i);
        p->n_nodes += 2;
    }
    p->n_data = j->n_contexts;
    pc_profile_count_descendants(p);
    return p;
}

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make(struct net_rank *r, void *arg)
{
    pc_profile_free(make_profile(arg, r->transport.rank));
}

static void reduce(struct net_rank *r, void *arg)
{
    struct job *j = arg;
    struct pc_profile *sum = NULL;
    struct pc_error error = {""};
    struct pc_profile *mine = make_profile(j, r->transport.rank);
    double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    if (pc_merge_reduce(&r->transport, mine, &sum, &error))
        fprintf(stderr, "merge: %s\n", error.text);
    if (!r->transport.rank) {
        j->rank_0_s = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        j->result = sum;
    }
}

static double copy_seconds(size_t n)
{
    char *from = malloc(n), *to = malloc(n);
    memset(from, 1, n);
    memset(to, 2, n);
    double begin = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    memcpy(to, from, n);
    double taken = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    fprintf(stderr, "%s", to[n / 2] == 1 ? "" : "?");
    free(from);
    free(to);
    return taken;
}

int main(int argc, char **argv)
{
    uint32_t number[5] = {0};
    struct rusage used;
    for (int i = 1; i < argc && i <= 5; i++)
        number[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
    struct job j = {number[0], number[1], number[2], number[4], (uint64_t)number[3] << 20, NULL, 0};
    if (argc < 5 || !j.n_ranks || !j.n_contexts)
        return 2;
    struct net *net = net_new((int)j.n_ranks, true);
    double begin = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    net_run(net, make, &j);
    double made = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    net_run(net, reduce, &j);
    double taken = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin - 2 * made;
    getrusage(RUSAGE_SELF, &used);
    if (!j.result)
        return 1;
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < j.result->n_data; i++)
        n_kept += j.result->data[i].kept;
    size_t n_bytes = (size_t)net_bytes(net);
    printf("%u ranks, %u contexts, %u %% own: %.2f s, of rank 0 %.3f s, %.1f MiB sent, %.0f times "
           "copying them, %u "
           "of %u "
           "records with values, %ld MiB\n",
           j.n_ranks, j.n_contexts, number[2], taken, j.rank_0_s, (double)n_bytes / 1048576,
           taken / copy_seconds(n_bytes), n_kept, j.result->n_data, used.ru_maxrss / 1024);
    return 0;
}
