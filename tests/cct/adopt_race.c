/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that come and go share the trees of those that have ended: each tree has one owner at a
 * time, and there are never more trees than threads at once. A program without a framework, so that
 * tests/cct/adopt.test can build it with ThreadSanitizer. Says what is wrong and exits 1.
 */
#include "cct/cct.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N_THREADS 4

struct worker {
    pthread_t id;
    struct pc_arena *arena;
    unsigned n, n_rounds;
    uint64_t calls;
};

static void check(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "adopt_race: %s\n", what);
        exit(1);
    }
}

static void *open_and_retire(void *arg)
{
    struct worker *w = arg;
    for (unsigned i = 0; i < w->n_rounds; i++) {
        struct pc_tree *t = pc_tree_open(w->arena, (int)w->n, false);
        check(t != NULL, "no tree");
        check(t->user == NULL, "a tree has two owners");
        t->user = w;
        bool collapsed = false;
        pcollect_ref f = pc_tree_frame(t, t->root, 0, i % 7);
        pcollect_ref ref = pc_tree_op(t, f, (uint16_t)(i % 3), 64, &collapsed);
        *(uint64_t *)pc_tree_record(t, ref) += 1;
        w->calls++;
        check(t->user == w, "a tree has two owners");
        t->user = NULL;
        pc_tree_retire(t);
    }
    return NULL;
}

static uint64_t count_calls(const struct pc_arena *a, pcollect_ref node)
{
    const struct pcollect_node *n = pc_arena_at(a, node);
    uint64_t calls = n->record ? *(const uint64_t *)pc_arena_at(a, n->record) : 0;
    for (pcollect_ref c = n->first_child; c;
         c = ((const struct pcollect_node *)pc_arena_at(a, c))->next)
        calls += count_calls(a, c);
    return calls;
}

int main(int argc, char **argv)
{
    static struct pc_arena a;
    static struct worker w[N_THREADS];
    unsigned n_rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20000;
    check(pc_arena_open(&a, NULL, (size_t)16 << 20, NULL) == PC_OK, "no arena");
    a.header->record_bytes = 64;
    for (unsigned i = 0; i < N_THREADS; i++) {
        w[i].arena = &a;
        w[i].n = i;
        w[i].n_rounds = n_rounds;
        check(pthread_create(&w[i].id, NULL, open_and_retire, &w[i]) == 0, "no thread");
    }
    uint64_t expected = 0, found = 0, adopted = 0;
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(w[i].id, NULL);
        expected += w[i].calls;
    }
    for (pcollect_ref r = a.header->threads; r;) {
        const struct pcollect_thread *t = pc_arena_at(&a, r);
        found += count_calls(&a, t->root);
        adopted += t->n_adopted;
        r = t->next;
    }
    check(found == expected, "calls were lost");
    check(adopted == (uint64_t)N_THREADS * n_rounds, "owners were lost");
    check(a.n_trees <= N_THREADS, "more trees than threads");
    return 0;
}
