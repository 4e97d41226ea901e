/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several profiles of one program side by side: their trees matched, context by context.
 *
 * Data structure: one tree; each node has the figures of every run that contains it. Nodes are
 * matched from the root on: by their label (function, file and line) if all runs are of one build
 * and have its lines, else by function, so that moved lines do not matter, and by the number of the
 * call if a function calls another from several lines (call_sites.h). If a function was inlined in
 * one run and is missing in another, its callees are matched one level up. Functions without a name
 * of a module of which the runs have other builds are one node below each caller: offsets differ.
 * Programs of a job of several are matched with those of the first such run: by name, else by their
 * build, else by the file in which they begin, else in the order of their first ranks.
 * Handles of MPI in the arguments of C++ functions are the same type in runs with different MPI
 * libraries.
 *
 * Costs are exclusive, in nanoseconds over all ranks and threads. For an MPI function called in a
 * context it is the time of its calls without nested calls; for a sampled function, the time in its
 * own code (a node of kind POINT, below the call that leads there). Calls in which killed ranks
 * were have their time, but are not counted. Computation without samples is one node below the
 * root. So the costs of a run add up to its time from MPI_Init to the end of MPI_Finalize, over all
 * ranks, and the samples of computation before MPI_Init; but not in a join of CPU time. MPI_Init
 * itself has a cost in PCT_JOIN_ALL and in recordings only.
 *
 * Profiles may be large and many: each is open only while its tree is added. The figures of a whole
 * run are read before, and of the values by rank those of MPI_Init.
 */
#ifndef PCT_JOIN_H
#define PCT_JOIN_H

#include "analysis/compare/compared_run.h"
#include "analysis/hash_index.h"

/* Costs that nodes share: of a run that lacks the node, and of one that has it at no cost. */
enum { PCT_COST_ABSENT, PCT_COST_NOTHING, PCT_N_SHARED_COSTS };

struct pct_cost {
    double ns;
    double waits_ns;     /* part of ns: other ranks wait in MPI for the rank that is busiest here */
    double open_ns;      /* part of ns: in calls that had not ended */
    double delayed_ns;   /* PCT_JOIN_UNDELAYED: taken off ns, the same share of all calls */
    double samples;      /* POINT only */
    double variance;     /* of ns, by samples: of what they leave over, too; in ns^2 */
    double calls, bytes; /* MPI functions only */
    double *rank_ns;     /* POINT: part of ns by rank, where it is known; may be NULL */
    int32_t caller;      /* the rank that makes all of them + 1; 0: none; PCT_MANY_CALLERS */
    bool present;
};

/* The caller of two sets of calls together. */
enum { PCT_MANY_CALLERS = -1 };
static inline int32_t pct_join_callers(int32_t a, int32_t b)
{
    return !a || a == b ? b : !b ? a : PCT_MANY_CALLERS;
}

/* Number of the call among those of one function to another, in the order of their lines. */
struct pct_call_site {
    uint32_t number; /* from 1; 0: there is one, or the lines are in the labels */
    uint32_t n;
};

struct pct_join_node {
    uint32_t parent; /* PC_NO_INDEX for the root */
    uint32_t first_child, next;
    /* Children that are inlined, while runs are added. */
    uint32_t first_inlined, next_inlined;
    uint16_t kind;               /* enum pcollect_node_kind */
    bool inlined;                /* in a run that has it */
    bool uncertain;              /* not all runs have as many calls like this one */
    bool waits;                  /* POINT in a threading runtime, in which threads of a run wait */
    bool told;                   /* call_line was set by at least one run */
    struct pct_call_site site;   /* among the calls of the function above */
    const char *call_file;       /* file where that function calls it; may be NULL */
    uint32_t call_line;          /* 0: unknown, or not the same place in all runs */
    const char *label;           /* interned */
    uint64_t context;            /* of label.h, in the first run that has it; 0: none */
    const char *function, *file; /* of the first run that has its place, or it; may be NULL */
    const char *module;          /* of a function without a name; interned; else NULL */
    const char *library;         /* of code without lines or names; interned; NULL: it is none */
    enum pct_caller caller;      /* of the last run that has it */
    uint32_t line;               /* of the call; 0: not the same in all runs */
    double line_ns;              /* POINT: time sampled at `line`, which has the most */
};

/* Times that costs have, and the sum of all costs of a run. */
enum pct_join_times {
    PCT_JOIN_ALL,       /* core_ns of the run */
    PCT_JOIN_UNDELAYED, /* undelayed.core_ns */
    /* own.core_ns; and the time in which ranks wait for the one that computes longest is taken from
     * the MPI functions in which they wait, and added to the computation in which that rank is
     * longer than the mean. Longer waits of ranks that had a processor are a node of their own, and
     * so is the time in which other ranks have not begun or have ended. */
    PCT_JOIN_OWN_BLAMED
};

/* The most ranks of which a join keeps what each computes. */
enum { PCT_JOIN_RANKS = 256 };

/* A program of a job of several; texts are interned. */
struct pct_join_program {
    const char *name, *own_label; /* of its own run */
    const char *label;            /* by which it is matched */
    const char *begin;            /* file in which it begins; NULL: unknown */
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
    uint32_t build_id_bytes;       /* 0: unknown */
    struct pct_join_program *with; /* that of another run, while runs are added */
};

/* A program of a run that is compared with one of another name. */
struct pct_join_renamed {
    size_t run;
    const char *name, *as; /* interned */
};

struct pct_join {
    size_t n_runs;
    uint32_t n_ranks; /* that all runs have, and of which it keeps what each computes; else 0 */
    struct pct_join_node *nodes;
    uint32_t *cost_of; /* node * n_runs + run: an index into costs */
    size_t n, room;    /* of nodes */
    struct pct_cost *costs;
    size_t n_costs, costs_room;
    struct pct_hash_index by_key; /* nodes, while runs are added */
    bool by_line;
    bool mixed_mpi; /* not by line, and the runs have different MPI libraries */
    /* By run: source file of main or of the Python script; NULL: unknown, or several programs. */
    const char **begins;
    bool *several;                     /* by run: its ranks run several programs */
    struct pct_join_program *programs; /* of the first run of several */
    size_t n_programs;
    bool in_order; /* of their first ranks */
    struct pct_join_renamed *renamed;
    size_t n_renamed, room_renamed;
    bool *lineless; /* by run: no function of the program has a line */
    enum pct_join_times times;
    bool divided; /* computation is divided by samples, which all runs have */
    /* PCT_JOIN_UNDELAYED: computation is the CPU time of all threads, since ranks of a run work
     * with several; it does not add up to the time of the run. */
    bool cpu_time;
    uint32_t compute; /* node of computation that is not divided */
    /* Node of waiting for a processor outside MPI (PCT_JOIN_ALL), or for ranks that had none; else
     * PC_NO_INDEX. */
    uint32_t waiting;
    uint32_t absent; /* node of the time before or after that of a rank; else PC_NO_INDEX */
    struct pct_pool *pool;
};

/* Opens runs that are not open, one after the other. Fails like pct_run_look if one cannot be
 * read. */
int pct_join_new(const struct pct_run *runs, size_t n, enum pct_join_times times,
                 struct pct_join **out, struct pc_error *error);
void pct_join_free(struct pct_join *j);

static inline const struct pct_cost *pct_join_cost(const struct pct_join *j, uint32_t node,
                                                   size_t run)
{
    return &j->costs[j->cost_of[(size_t)node * j->n_runs + run]];
}

/* The place where the function above calls it, if both are known; else NULL and 0. */
static inline const char *pct_join_call_file(const struct pct_join_node *n)
{
    return n->call_line ? n->call_file : NULL;
}
static inline uint32_t pct_join_call_line(const struct pct_join_node *n)
{
    return n->call_file ? n->call_line : 0;
}

/* "main > solve > MPI_Allreduce"; interned. */
const char *pct_join_path(const struct pct_join *j, uint32_t node);

/* The places of n nodes, for use in sentences: "MPI_Allreduce in solve (poisson.c:212)". Names of
 * C++ are shortened and told apart from each other, or have all their arguments. Where that does
 * not distinguish the places, they have callers: the next 3 at most, "..., from main
 * (poisson.c:380)", and of those further up the ones that distinguish them: "..., ... from main
 * (poisson.c:380)". Interned. */
void pct_join_places(const struct pct_join *j, const uint32_t *nodes, size_t n, bool full_names,
                     const char **places_out);

/* The function that a node is in, without a line: "solve (poisson.c)"; interned. */
const char *pct_join_in_function(const struct pct_join *j, uint32_t node, bool full_names);

#endif
