/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The account of a truth program (truth.h): a tree of (function, line) with counts at its leaves,
 * under one spin lock, and a stack of functions for every thread. Names are copied: their library
 * may be closed. It knows nothing of the profiler that it is compared with.
 */
#include "truth.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NODES 16384
#define N_DEPTH 512
#define N_STACKS 4
#define N_SUMS 4096

struct node {
    const char *name; /* function, or primitive at a leaf */
    int line;         /* of the function; -1 at a leaf */
    int parent, first_child, next;
    uint64_t calls, sent, received;
};

struct frame {
    const char *function;
    int line;
};

struct stack {
    int depth;
    struct frame frames[N_DEPTH];
};

/* Sums of one primitive on one communicator, or of one pair of ranks, found by name. */
struct sum {
    char name[160];
    uint64_t n[4];
};

static struct sum wheres[N_SUMS], pairs[N_SUMS];
static const char *communicator; /* of the next call; only programs of one thread set it */

static struct node nodes[N_NODES]; /* 0 is the root */
static int n_nodes = 1;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static int world_rank;
static int written;
static __thread struct stack stacks[N_STACKS];
static __thread int current;
static struct stack lent;

__attribute__((noreturn)) static void give_up(const char *reason)
{
    fprintf(stderr, "truth: %s\n", reason);
    abort();
}

void truth_enter(const char *function)
{
    struct stack *s = &stacks[current];
    if (s->depth == N_DEPTH)
        give_up("too deep");
    s->frames[s->depth].function = function;
    s->frames[s->depth].line = 0;
    s->depth++;
}

void truth_leave(void)
{
    stacks[current].depth--;
}

int truth_depth(void)
{
    return stacks[current].depth;
}

void truth_set_depth(int depth)
{
    stacks[current].depth = depth;
}

void truth_lend(void)
{
    lent = stacks[current];
}

int truth_borrow(void)
{
    if (stacks[current].depth)
        return 0;
    stacks[current] = lent;
    return 1;
}

int truth_use_stack(int stack)
{
    int old = current;
    current = stack;
    return old;
}

void truth_line(int line)
{
    struct stack *s = &stacks[current];
    s->frames[s->depth - 1].line = line;
}

static int child(int parent, const char *name, int line)
{
    for (int i = nodes[parent].first_child; i; i = nodes[i].next)
        if (nodes[i].line == line && !strcmp(nodes[i].name, name))
            return i;
    if (n_nodes == N_NODES)
        give_up("too many contexts");
    nodes[n_nodes] = (struct node){
        .name = strdup(name), .line = line, .parent = parent, .next = nodes[parent].first_child};
    nodes[parent].first_child = n_nodes;
    return n_nodes++;
}

static void add_to(struct sum *sums, const char *name, uint64_t a, uint64_t b, uint64_t c,
                   uint64_t d)
{
    uint64_t more[] = {a, b, c, d};
    int i = 0;
    while (i < N_SUMS && sums[i].name[0] && strcmp(sums[i].name, name))
        i++;
    if (i == N_SUMS)
        give_up("too many communicators or pairs");
    strcpy(sums[i].name, name);
    for (int j = 0; j < 4; j++)
        sums[i].n[j] += more[j];
}

void truth_on(const char *name)
{
    communicator = name;
}

static void add_pair(const char *class_name, int source, int destination, uint64_t a, uint64_t b,
                     uint64_t c, uint64_t d)
{
    char name[160];
    snprintf(name, sizeof name, "%d %d %s", source, destination, class_name);
    add_to(pairs, name, a, b, c, d);
}

void truth_pair(const char *class_name, int source, int destination, uint64_t messages,
                uint64_t bytes)
{
    add_pair(class_name, source, destination, messages, bytes, 0, 0);
}

void truth_pair_received(const char *class_name, int source, int destination, uint64_t messages,
                         uint64_t bytes)
{
    add_pair(class_name, source, destination, 0, 0, messages, bytes);
}

static void add_where(const char *primitive, uint64_t sent, uint64_t received)
{
    char name[160];
    snprintf(name, sizeof name, "%s %s", primitive, communicator ? communicator : "");
    communicator = NULL;
    add_to(wheres, name, 1, sent, received, 0);
}

void truth_call(const char *primitive, int line, uint64_t sent, uint64_t received)
{
    struct stack *s = &stacks[current];
    int node = 0;
    truth_line(line);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
    for (int i = 0; i < s->depth; i++)
        node = child(node, s->frames[i].function, s->frames[i].line);
    node = child(node, primitive, -1);
    nodes[node].calls++;
    nodes[node].sent += sent;
    nodes[node].received += received;
    add_where(primitive, sent, received);
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

void truth_rank(int rank)
{
    world_rank = rank;
}

static void print_chain(FILE *out, int node)
{
    if (nodes[node].parent) {
        print_chain(out, nodes[node].parent);
        fputc('>', out);
    }
    fprintf(out, "%s:%d", nodes[node].name, nodes[node].line);
}

/* The sum over all leaves of one primitive, printed at its first leaf. */
static void print_count(FILE *out, int leaf)
{
    struct node sum = {0};
    for (int i = 1; i < n_nodes; i++) {
        if (nodes[i].line != -1 || strcmp(nodes[i].name, nodes[leaf].name))
            continue;
        if (i < leaf)
            return;
        sum.calls += nodes[i].calls;
        sum.sent += nodes[i].sent;
        sum.received += nodes[i].received;
    }
    fprintf(out, "count %d %s %llu %llu %llu\n", world_rank, nodes[leaf].name,
            (unsigned long long)sum.calls, (unsigned long long)sum.sent,
            (unsigned long long)sum.received);
}

static void print_sums(FILE *out)
{
    for (const struct sum *s = wheres; s < wheres + N_SUMS && s->name[0]; s++)
        fprintf(out, "where %d %.*s %llu %llu %llu%s\n", world_rank, (int)strcspn(s->name, " "),
                s->name, (unsigned long long)s->n[0], (unsigned long long)s->n[1],
                (unsigned long long)s->n[2], strchr(s->name, ' '));
    for (const struct sum *s = pairs; s < pairs + N_SUMS && s->name[0]; s++)
        fprintf(out, "pair %d %s %llu %llu %llu %llu\n", world_rank, s->name,
                (unsigned long long)s->n[0], (unsigned long long)s->n[1],
                (unsigned long long)s->n[2], (unsigned long long)s->n[3]);
}

void truth_write(void)
{
    const char *folder = getenv("TRUTH_DIR");
    char path[4096];
    FILE *out;
    if (written || !folder)
        return;
    written = 1;
    snprintf(path, sizeof path, "%s/truth.%d", folder, world_rank);
    out = fopen(path, "w");
    if (!out)
        give_up(path);
    for (int i = 1; i < n_nodes; i++) {
        if (nodes[i].line != -1)
            continue;
        print_count(out, i);
        fprintf(out, "context %d ", world_rank);
        if (nodes[i].parent)
            print_chain(out, nodes[i].parent);
        else
            fputc('-', out);
        fprintf(out, " %s %llu %llu %llu\n", nodes[i].name, (unsigned long long)nodes[i].calls,
                (unsigned long long)nodes[i].sent, (unsigned long long)nodes[i].received);
    }
    print_sums(out);
    if (fclose(out))
        give_up(path);
}

/* This library calls MPI itself, before main and after it. MPI_Initialized and MPI_Finalized are
 * allowed at any time. */
__attribute__((constructor)) static void begin_truth(void)
{
    int flag;
    ENTER;
    MPI(Initialized, 0, 0, (&flag));
    LEAVE;
    if (flag)
        give_up("MPI is initialised before main");
}

__attribute__((destructor)) static void end_truth(void)
{
    int flag;
    if (written)
        return;
    truth_set_depth(0); /* exit() may have been called anywhere */
    ENTER;
    MPI(Finalized, 0, 0, (&flag));
    LEAVE;
    truth_write();
}
