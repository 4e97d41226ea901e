/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Leaves an arena as a process of an MPI job would, for recover.test:
 *
 *     make_arena SPOOL KEY=VALUE...
 *
 * run=, job= (keys), rank=, ranks=, launched= (the launcher's rank), init= (ticks at which MPI_Init
 * began), calls= (of MPI_Send in one context; 0: none), frame= (number of that context), values=
 * (KiB for values by rank; 0: no bound), state=, out=, exe=, damaged= (1: a part of it cannot be
 * read), stay= (seconds before it ends). It ends without removing anything.
 */
#include "cct/cct.h"
#include "include/pcollect/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *value_of(int argc, char **argv, const char *key, const char *otherwise)
{
    size_t n = strlen(key);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=')
            return argv[i] + n + 1;
    return otherwise;
}

static int number_of(int argc, char **argv, const char *key, int otherwise)
{
    const char *text = value_of(argc, argv, key, NULL);
    return text ? atoi(text) : otherwise;
}

/* A fixed time, which the output of --list can be compared with. A process that stays needs the
 * true time: by it a reader distinguishes this process from another one with the same pid. */
static uint64_t now_ns(bool true_time)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (true_time)
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 951827696000000000u;
}

static void add_calls(struct pc_arena *a, int calls, int number)
{
    struct pcollect_plugin_rec plugin = {.record_bytes = 8, .n_fields = 1, .name = "time"};
    struct pcollect_field_rec field = {
        .name = "count", .combine = PCOLLECT_SUM, .unit = PCOLLECT_UNIT_COUNT};
    struct pcollect_module module = {.flags = PCOLLECT_MODULE_EXE, .identity = 7};
    static const char path[] = "/usr/bin/solver";
    bool collapsed = false;
    module.path_bytes = sizeof path - 1;
    a->header->record_bytes = a->header->comm_bytes = 64;
    pc_arena_add_plugin(a, &plugin, &field);
    pcollect_ref m = pc_arena_add_module(a, &module, path);
    pc_arena_add_op(a, 3, PCOLLECT_CLASS_P2P, "MPI_Send");
    struct pc_tree *t = pc_tree_open(a, getpid(), false);
    pcollect_ref frame = pc_tree_frame(t, t->root, m, 0x1234 + (uint64_t)number);
    pcollect_ref op = pc_tree_op(t, frame, 3, 64, &collapsed);
    uint64_t *record = pc_tree_record(t, op);
    *record = (uint64_t)calls;
    pc_tree_thread(t)->mpi_calls = (uint64_t)calls;
}

int main(int argc, char **argv)
{
    static struct pc_arena arena;
    struct pc_error error;
    if (argc < 2 || pc_arena_open(&arena, argv[1], 4 << 20, &error) || !arena.is_file) {
        fprintf(stderr, "make_arena: %s\n", argc < 2 ? "no spool" : error.text);
        return 1;
    }
    struct pcollect_arena_header *h = arena.header;
    h->run_key = strtoull(value_of(argc, argv, "run", "0"), NULL, 16);
    h->job_key = strtoull(value_of(argc, argv, "job", "0"), NULL, 16);
    h->rank = number_of(argc, argv, "rank", -1);
    h->n_ranks = number_of(argc, argv, "ranks", 1);
    h->launch_rank = number_of(argc, argv, "launched", -1);
    h->values_kib = (uint32_t)number_of(argc, argv, "values", 0);
    h->init_begin_ticks = (uint64_t)number_of(argc, argv, "init", 0);
    pc_clock_init();
    pc_clock_pair(&h->ticks_0, &h->mono_0_ns);
    h->start_ticks = h->ticks_0;
    h->realtime_0_ns = now_ns(number_of(argc, argv, "stay", 0) > 0);
    snprintf(h->exe, sizeof h->exe, "%s", value_of(argc, argv, "exe", "/usr/bin/solver"));
    snprintf(h->job, sizeof h->job, "%s", value_of(argc, argv, "number", ""));
    snprintf(h->out, sizeof h->out, "%s", value_of(argc, argv, "out", ""));
    int calls = number_of(argc, argv, "calls", 5);
    if (calls)
        add_calls(&arena, calls, number_of(argc, argv, "frame", 0));
    if (number_of(argc, argv, "damaged", 0))
        h->tables = (pcollect_ref)-1;
    pc_clock_pair(&h->ticks_1, &h->mono_1_ns);
    h->state = (uint32_t)number_of(argc, argv, "state", PCOLLECT_STATE_INITIALISED);
    printf("%s\n", arena.path);
    fclose(stdout);
    sleep((unsigned)number_of(argc, argv, "stay", 0));
    _exit(0);
}
