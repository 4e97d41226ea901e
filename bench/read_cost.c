/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For bench/read.sh: `read make FILE RANKS KEPT` writes a simulated profile of 10,000 contexts, of
 * which 5,000 are calls on all ranks; of each KEPT-th call 1,000 ranks have it, and their values
 * are in the file (0: of none). With another argument it also has calls of each rank after the
 * merge, and a cause for a finding: many small messages. `read end FILE` adds the end of each rank
 * to a profile, as it is after a job. `read all FILE` inflates and decodes all of a file, field by
 * field. `read measure COMMAND...` runs a command without its output and prints the seconds of
 * processor time and the KiB that it took. For bench/symbols.sh: `read places FILE PROGRAM N`
 * writes a profile of one rank with N frames spread over the code of a program, and prints their
 * addresses.
 */
#include "format/profile.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OUTER = 50,
    INNER = 100,
    N_OPS = 8,
    N_FIELDS = 7,
    BINS = 40,
    KEPT_RANKS = 1000,
    N_HOSTS = 128
};
enum { SEND = 6 }; /* of op_names, and the first call of it */
enum { RECEIVED, SENT, COUNT, DURATIONS, MAX, MIN, TIME };

static const char *const op_names[N_OPS] = {"MPI_Allreduce", "MPI_Bcast",  "MPI_Irecv",
                                            "MPI_Isend",     "MPI_Recv",   "MPI_Reduce",
                                            "MPI_Send",      "MPI_Waitall"};

static uint64_t random_state = 1;

static uint64_t next_random(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void *take(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        exit(2);
    return p;
}

static void add_stat(struct pc_stat *s, int32_t rank, uint64_t v)
{
    if (!s->n || v < s->min) {
        s->min = v;
        s->min_rank = rank;
    }
    if (!s->n || v > s->max) {
        s->max = v;
        s->max_rank = rank;
    }
    s->n++;
    s->sum += v;
    s->sum_squares += (pc_u128)v * v;
}

static void fill_data(struct pc_profile *p, struct pc_profile_data *d, bool kept, bool fault)
{
    uint64_t mean = 1000 + next_random(1000000), calls = 1 + next_random(1000);
    if (fault) { /* 3,000 s a rank */
        mean = 3000000;
        calls = 1000000;
    }
    d->n_ranks = kept && p->n_ranks > KEPT_RANKS ? KEPT_RANKS : p->n_ranks;
    d->kept = kept;
    d->stats = take(N_FIELDS, sizeof *d->stats);
    d->bins = take(N_FIELDS, sizeof *d->bins);
    d->bins[DURATIONS] = take(BINS, sizeof **d->bins);
    d->ranks = kept ? take(d->n_ranks, sizeof *d->ranks) : NULL;
    d->values = kept ? take((size_t)d->n_ranks * N_FIELDS, sizeof *d->values) : NULL;
    for (uint32_t r = 0; r < d->n_ranks; r++) {
        uint64_t time = mean * calls * (90 + next_random(20)) / 100;
        uint64_t v[N_FIELDS] = {[RECEIVED] = 8 * calls, [SENT] = 8 * calls,
                                [COUNT] = calls,        [MAX] = mean * 2 + next_random(mean),
                                [MIN] = mean / 2 + 1,   [TIME] = time};
        for (unsigned k = 0; k < N_FIELDS; k++) {
            if (k == DURATIONS)
                d->stats[k].n++;
            else
                add_stat(&d->stats[k], (int32_t)r, v[k]);
            if (kept)
                d->values[(size_t)r * N_FIELDS + k] = v[k];
        }
        if (kept)
            d->ranks[r] = (int32_t)r;
        d->bins[DURATIONS][18 + next_random(4)] += calls;
    }
}

static uint32_t add_node(struct pc_profile *p, uint32_t parent, uint16_t kind)
{
    uint32_t i = p->n_nodes++;
    p->nodes[i] = (struct pc_profile_node){.parent = parent,
                                           .kind = kind,
                                           .module = PC_NO_INDEX,
                                           .op = PC_NO_INDEX,
                                           .data = PC_NO_INDEX};
    for (uint32_t up = parent; up != PC_NO_INDEX; up = p->nodes[up].parent)
        p->nodes[up].n_descendants++;
    return i;
}

static uint32_t add_frame(struct pc_profile *p, uint32_t parent, uint64_t offset)
{
    uint32_t i = add_node(p, parent, PCOLLECT_NODE_FRAME);
    p->nodes[i].module = 0;
    p->nodes[i].offset = offset;
    return i;
}

static void fill_nodes(struct pc_profile *p, unsigned kept, bool fault)
{
    p->nodes = take(1 + OUTER + 2 * OUTER * INNER, sizeof *p->nodes);
    p->data = take((size_t)OUTER * INNER, sizeof *p->data);
    uint32_t root = add_node(p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    for (unsigned i = 0; i < OUTER; i++) {
        uint32_t outer = add_frame(p, root, 0x10000 * (i + 1));
        for (unsigned k = 0; k < INNER; k++) {
            uint32_t op = add_node(p, add_frame(p, outer, 0x1000000 + 0x10000 * i + 0x100 * k),
                                   PCOLLECT_NODE_OP);
            p->nodes[op].op = (i + k) % N_OPS;
            p->nodes[op].data = p->n_data;
            fill_data(p, &p->data[p->n_data], kept && p->n_data % kept == 0,
                      fault && p->n_data == SEND);
            p->n_data++;
        }
    }
}

static void fill_ranks(struct pc_profile *p, uint32_t n)
{
    p->ranks = take(n, sizeof *p->ranks);
    p->n_ranks = p->world_size = n;
    for (uint32_t i = 0; i < n; i++) {
        static char hosts[N_HOSTS][8];
        snprintf(hosts[i % N_HOSTS], sizeof hosts[0], "n%u", i % N_HOSTS);
        p->ranks[i] =
            (struct pc_profile_rank){.rank = (int32_t)i,
                                     .pid = 1000 + (int32_t)i,
                                     .host = hosts[i % N_HOSTS],
                                     .start_realtime_ns = 1700000000000000000u,
                                     .before_init_ns = 10000000,
                                     .inside_ns = 3600000000000u,
                                     .after_ns = 1000000,
                                     .mpi_ns = 1300000000000u + next_random(100000000000u),
                                     .mpi_calls = 2500000,
                                     .n_threads = 1,
                                     .closed = 1};
    }
}

/* A profile without nodes. */
static struct pc_profile new_profile(const char *program, uint32_t n_ranks)
{
    static struct pc_profile_field fields[N_FIELDS] = {
        [RECEIVED] = {(char *)"time", (char *)"bytes_received", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES,
                      0, 0},
        [SENT] = {(char *)"time", (char *)"bytes_sent", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0, 0},
        [COUNT] = {(char *)"time", (char *)"count", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0, 0},
        [DURATIONS] = {(char *)"time", (char *)"durations", PCOLLECT_HIST, PCOLLECT_UNIT_NS, BINS,
                       0},
        [MAX] = {(char *)"time", (char *)"max", PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0, 0},
        [MIN] = {(char *)"time", (char *)"min", PCOLLECT_MIN, PCOLLECT_UNIT_NS, 0, 0},
        [TIME] = {(char *)"time", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0, 0},
    };
    static struct pc_profile_module module = {.flags = PCOLLECT_MODULE_EXE, .identity = 1};
    static struct pc_profile_op ops[N_OPS];
    module.path = (char *)program;
    struct pc_profile p = {.exe = module.path,
                           .mpi = (char *)"",
                           .job = (char *)"",
                           .job_key = 1,
                           .n_modules = 1,
                           .modules = &module,
                           .n_ops = N_OPS,
                           .ops = ops,
                           .n_fields = N_FIELDS,
                           .n_comm = N_FIELDS,
                           .fields = fields,
                           .per_rank = 1024};
    for (unsigned i = 0; i < N_OPS; i++)
        ops[i] = (struct pc_profile_op){(char *)op_names[i], PCOLLECT_CLASS_P2P};
    fill_ranks(&p, n_ranks);
    return p;
}

static int write_profile(const struct pc_profile *p, const char *path, unsigned flags)
{
    struct pc_error error = {""};
    int err = pc_profile_check(p, &error);
    if (!err)
        err = pc_pcol_write(p, path, flags, &error);
    if (err)
        fprintf(stderr, "read: %s\n", error.text);
    return err ? 1 : 0;
}

struct late_rank {
    struct pc_profile profile;
    struct pc_profile_node nodes[3];
    struct pc_profile_data data;
};

/* One call of a rank after the merge. */
static void make_late(const struct pc_profile *p, uint32_t rank, struct late_rank *out)
{
    struct pc_profile *late = &out->profile;
    struct pc_profile_data *d = &out->data;
    *late = *p;
    late->nodes = out->nodes;
    late->data = d;
    late->n_nodes = 0;
    late->n_data = late->n_ranks = 1;
    late->ranks = &p->ranks[rank];
    uint32_t op =
        add_node(late, add_frame(late, add_node(late, PC_NO_INDEX, PCOLLECT_NODE_ROOT), 1),
                 PCOLLECT_NODE_OP);
    out->nodes[op].op = out->nodes[op].data = 0;
    fill_data(late, d, true, false);
    d->first_rank = d->ranks[0] = (int32_t)rank;
    for (unsigned k = 0; k < N_FIELDS; k++)
        d->stats[k].min_rank = d->stats[k].max_rank = k == DURATIONS ? 0 : (int32_t)rank;
}

/* Writes what the ranks did after the merge, node by node. */
static int write_late(const struct pc_profile *p, const char *path)
{
    struct late_rank *late = take(p->n_ranks, sizeof *late);
    const struct pc_profile **of_node = take(p->n_ranks, sizeof *of_node);
    int32_t *ranks = take(p->n_ranks, sizeof *ranks);
    for (uint32_t node = 0; node < N_HOSTS; node++) {
        struct pc_error error = {""};
        uint32_t n = 0;
        for (uint32_t i = node; i < p->n_ranks; i += N_HOSTS, n++) {
            make_late(p, i, &late[i]);
            of_node[n] = &late[i].profile;
            ranks[n] = (int32_t)i;
        }
        if (n && pc_pcol_write_node(path, of_node, ranks, n, true, &error)) {
            fprintf(stderr, "read: %s\n", error.text);
            return 1;
        }
    }
    return 0;
}

/* The end of a rank, without contexts. */
static void make_end(const struct pc_profile *p, uint32_t rank, struct late_rank *out,
                     struct pc_profile_rank *end)
{
    struct pc_profile *late = &out->profile;
    *late = *p;
    late->later = NULL;
    late->nodes = out->nodes;
    late->ranks = end;
    late->n_nodes = late->n_data = late->n_strings = late->n_tables = 0;
    late->n_ranks = 1;
    add_node(late, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    *end = (struct pc_profile_rank){.rank = p->ranks[rank].rank,
                                    .host = (char *)"",
                                    .inside_ns = p->ranks[rank].inside_ns + 1000,
                                    .after_ns = 1000000 + rank,
                                    .closed = 1};
}

/* Writes the ends of all ranks, node by node; the ranks of a node have successive numbers. */
static int end_ranks(const char *path)
{
    struct pc_profile *p;
    struct pc_error error = {""};
    int err = pc_pcol_read_ranks(path, &p, &error);
    uint32_t n = err ? 0 : p->n_ranks;
    struct late_rank *late = take(n + 1, sizeof *late);
    struct pc_profile_rank *ends = take(n + 1, sizeof *ends);
    const struct pc_profile **of_node = take(n + 1, sizeof *of_node);
    int32_t *ranks = take(n + 1, sizeof *ranks);
    for (uint32_t first = 0, k; first < n && !err; first += k) {
        for (k = 0; first + k < n && !strcmp(p->ranks[first + k].host, p->ranks[first].host); k++) {
            make_end(p, first + k, &late[first + k], &ends[first + k]);
            of_node[k] = &late[first + k].profile;
            ranks[k] = ends[first + k].rank;
        }
        err = pc_pcol_write_node(path, of_node, ranks, k, true, &error);
    }
    if (err)
        fprintf(stderr, "read: %s\n", error.text);
    return err ? 1 : 0;
}

static int make(const char *path, uint32_t n_ranks, unsigned kept, bool fault)
{
    struct pc_profile p = new_profile("/nowhere/app", n_ranks);
    fill_nodes(&p, kept, fault);
    int err = write_profile(&p, path, fault ? PC_PCOL_LATE_SLOTS : 0);
    return err || !fault ? err : write_late(&p, path);
}

/* The code of a position-independent program: its addresses are offsets from where it is loaded. */
static bool find_code(const char *program, uint64_t *begin_out, uint64_t *bytes_out)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    int fd = open(program, O_RDONLY);
    bool found = false;
    if (fd < 0)
        return false;
    if (pread(fd, &head, sizeof head, 0) == sizeof head)
        for (unsigned i = 0; i < head.e_phnum && !found; i++) {
            off_t at = (off_t)(head.e_phoff + i * sizeof part);
            found = pread(fd, &part, sizeof part, at) == sizeof part && part.p_type == PT_LOAD &&
                    part.p_flags & PF_X;
        }
    close(fd);
    if (found) {
        *begin_out = part.p_vaddr;
        *bytes_out = part.p_memsz;
    }
    return found;
}

static int make_places(const char *path, const char *program, uint32_t n)
{
    uint64_t begin, bytes;
    struct pc_profile p = new_profile(program, 1);
    if (!find_code(program, &begin, &bytes) || bytes < n) {
        fprintf(stderr, "read: %s: not a program with that many addresses\n", program);
        return 1;
    }
    p.nodes = take(1 + 2 * (size_t)n, sizeof *p.nodes);
    p.data = take(n, sizeof *p.data);
    uint32_t root = add_node(&p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t offset = begin + 1 + bytes * i / n;
        uint32_t op = add_node(&p, add_frame(&p, root, offset), PCOLLECT_NODE_OP);
        p.nodes[op].op = 0;
        p.nodes[op].data = p.n_data;
        fill_data(&p, &p.data[p.n_data++], false, false);
        printf("0x%llx\n", (unsigned long long)offset - 1);
    }
    return write_profile(&p, path, 0);
}

static int read_all(const char *path)
{
    struct pc_profile *p;
    struct pc_error error = {""};
    uint64_t sum = 0;
    if (pc_pcol_read_columns(path, &p, &error)) {
        fprintf(stderr, "read: %s\n", error.text);
        return 1;
    }
    for (uint32_t i = 0; i < p->n_tables; i++)
        pc_table_need(p, &p->tables[i]);
    for (uint32_t k = 0; k < p->n_fields; k++)
        for (uint32_t i = 0; i < p->n_data; i++) {
            struct pc_by_rank by = pc_data_by_rank(p, &p->data[i], k);
            sum += by.n ? by.values[0] : 0;
        }
    printf("%lu\n", (unsigned long)sum);
    pc_profile_free(p);
    return 0;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static int measure(char **argv)
{
    struct rusage used;
    int status = 0;
    pid_t child = fork();
    if (!child) {
        int fd = open("/dev/null", O_WRONLY);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status)
        return 1;
    printf("%.4f %ld\n", seconds_of(used.ru_utime) + seconds_of(used.ru_stime), used.ru_maxrss);
    return 0;
}

int main(int argc, char **argv)
{
    if ((argc == 5 || argc == 6) && !strcmp(argv[1], "make"))
        return make(argv[2], (uint32_t)strtoul(argv[3], NULL, 10),
                    (unsigned)strtoul(argv[4], NULL, 10), argc == 6);
    if (argc == 5 && !strcmp(argv[1], "places"))
        return make_places(argv[2], argv[3], (uint32_t)strtoul(argv[4], NULL, 10));
    if (argc == 3 && !strcmp(argv[1], "all"))
        return read_all(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "end"))
        return end_ranks(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "measure"))
        return measure(argv + 2);
    return 2;
}
