/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communication between ranks: from the table `pairs` of a profile to a matrix, its pattern, and a
 * placement of ranks on nodes (doc/internals/topology.md). Called by command/topology.c. No
 * function fails: without memory the command ends.
 */
#ifndef PCT_TOPOLOGY_H
#define PCT_TOPOLOGY_H

#include "analysis/buffer.h"

struct pct_pair {
    int32_t source, destination; /* world ranks; below 0: outside of the job */
    uint64_t messages, bytes;    /* sent; as received where the sender is not in the profile */
    uint64_t received, received_bytes;
    uint64_t time_ns, receive_ns;
};

/* Messages of pairs without rows of their own, because a rank keeps rows only for its first
 * partners: between ranks whose distance is at least `least` and below 2 * least. */
struct pct_distance {
    uint64_t least;
    pc_u128 messages, bytes;
};

/* Calls of collective operations, of which no pairs are known. */
struct pct_collected {
    pc_u128 calls, bytes, ns; /* over ranks; bytes that they sent */
};

/* Place where a rank ran. */
struct pct_rank_place {
    uint32_t node;     /* index into nodes */
    bool missing;      /* the rank is not in the profile */
    int32_t socket;    /* index into sockets; -1: bound to none, or unknown */
    const char *cores; /* "" : unknown */
};

struct pct_socket {
    uint32_t node;
    uint32_t number;  /* within the node, from 0 */
    uint32_t n_cores; /* 0: unknown */
    const char *list; /* numbers of its processors; NULL: unknown */
};

struct pct_topology {
    uint32_t n_ranks;       /* of the job */
    uint32_t n_missing;     /* of them, not in the profile: their places are assumed, and messages
                               between them unknown */
    struct pct_pair *pairs; /* sorted by source and destination, unique */
    size_t n_pairs;
    bool one_phase;                 /* they are of one phase only */
    bool are_uncounted;             /* there are no pairs, because messages were on communicators
                                       made from sessions, whose ranks in the job are not known */
    bool rounded;                   /* their times are within 0.8 % of what was measured */
    struct pct_distance *distances; /* sorted, unique; their messages are not in `pairs` */
    size_t n_distances;
    struct pct_collected collected; /* on the communicator and in the phase that are asked for */
    struct pct_rank_place *places;  /* by rank */
    const char **nodes;             /* names, in the order of their first ranks */
    uint32_t n_nodes;
    struct pct_socket *sockets; /* sorted by node and number */
    uint32_t n_sockets;
    uint32_t *first_socket; /* by node; one more at the end */
    bool has_sockets;       /* some rank is on a known one */
};

/* Reads one span of a list of processors like "0-3,8"; false at its end, and if it is no list. */
bool pct_processors_next(const char **at, unsigned long *first, unsigned long *last);

/* Selection from the table; NULL and 0: all. */
struct pct_pair_filter {
    const char *class_name;
    uint64_t domain;
    bool has_phase;
    uint64_t phase;
};

/* Analysing more pairs than this takes longer than printing a report. */
enum { PCT_MANY_PAIRS = 200000 };

/* The profile must outlive it. NULL: the profile has no table of pairs. */
struct pct_topology *pct_topology_new(const struct pc_profile *p,
                                      const struct pct_pair_filter *filter);
void pct_topology_free(struct pct_topology *t);

/* True if a rank is not in the profile, or is outside of the job. */
bool pct_topology_is_missing(const struct pct_topology *t, int32_t rank);

/* Communicators that no call makes: MPI_COMM_WORLD, MPI_COMM_SELF. Their ids are known without a
 * table. */
extern const char *const pct_domain_known[];
enum { PCT_N_DOMAIN_KNOWN = 2 };
/* Appends the name of one of these, or the id. */
void pct_domain_put(struct pct_buf *b, uint64_t id);

/* A communicator by its id in hexadecimal or by its name; 0, and the reason in *why: none, or
 * several. */
uint64_t pct_domain_find(const struct pc_profile *p, const char *text, struct pct_buf *why);

/* Messages of the whole profile, also those that are known by distance only. It takes no memory for
 * the pairs. */
struct pct_traffic {
    pc_u128 messages, bytes;
    pc_u128 own_messages, own_bytes; /* of them, from ranks to themselves */
    pc_u128 far_messages, far_bytes; /* of them, to processes of other jobs */
    bool by_pair;                    /* none is known by distance only */
};
struct pct_traffic pct_traffic_sum(const struct pc_profile *p);

/* Sums over pairs by their reach. */
enum pct_reach {
    PCT_REACH_SELF,
    PCT_REACH_SOCKET,
    PCT_REACH_SOCKETS, /* between sockets of a node */
    PCT_REACH_NODE,    /* within a node; the socket of an end is not known */
    PCT_REACH_BETWEEN, /* nodes */
    PCT_REACH_OUTSIDE,
    PCT_N_REACHES
};
struct pct_reach_sum {
    uint64_t pairs;
    pc_u128 messages, bytes;
};
void pct_topology_sums(const struct pct_topology *t, struct pct_reach_sum sums[PCT_N_REACHES]);

/* Ranks that exchange messages, by index in the profile. Messages of a rank to itself link nothing;
 * those to MPI_PROC_NULL are none. */
struct pct_partners {
    uint32_t n;        /* ranks of the profile */
    uint32_t *group;   /* equal numbers of two ranks: messages or transfers of windows link them,
                          directly or through others. NULL: not all links are known */
    pc_u128 messages;  /* of all ranks, with those to themselves, at least */
    uint64_t *of_rank; /* of each rank, sent to others or received from them */
    uint32_t hub;      /* the rank with most of them */
    bool *with_hub;    /* exchanges some with it */
    bool is_line;      /* each rank exchanges some with the next one */
};

/* Never NULL. A profile without the table `pairs` has no messages here. It takes memory for the
 * ranks, and none for the pairs. */
struct pct_partners *pct_partners_new(const struct pc_profile *p);
/* NULL is allowed. */
void pct_partners_free(struct pct_partners *all);

/* ---- Undirected graph of the job: both directions of a pair are one edge -------------------- */

struct pct_edge {
    uint32_t a, b; /* a < b */
    uint64_t weight;
    uint64_t lesser; /* of it, in the direction that has less: at most half */
};

struct pct_graph {
    uint32_t n;             /* vertices */
    bool are_uncounted;     /* of the topology */
    bool by_bytes;          /* weights are bytes, else messages */
    bool has_gaps;          /* ranks are missing: edges between two of them are not known */
    struct pct_edge *edges; /* sorted by a and b, unique, weight above 0, in all at most
                               PCT_MOST_WEIGHT */
    size_t n_edges;
};

/* Greatest sum of the weights of a graph: a placement computes with the sum of four in int64_t. */
#define PCT_MOST_WEIGHT ((uint64_t)INT64_MAX / 4)

/* Graph of ranks inside the job; weights are bytes, or messages if no pair has bytes. */
void pct_graph_make(const struct pct_topology *t, struct pct_graph *g);
void pct_graph_free(struct pct_graph *g);

/* ---- Pattern -------------------------------------------------------------------------------- */

enum pct_pattern_kind {
    PCT_PATTERN_NONE, /* no messages */
    PCT_PATTERN_PAIR, /* or several: each rank has one partner */
    PCT_PATTERN_RING,
    PCT_PATTERN_GRID, /* a line with one dimension */
    PCT_PATTERN_ALL,
    PCT_PATTERN_ALL_PAIRS, /* as many pairs as all-to-all has, but not both directions of them */
    PCT_PATTERN_MASTER,
    PCT_PATTERN_TREE,
    PCT_PATTERN_IRREGULAR,
    PCT_PATTERN_UNKNOWN /* the graph has gaps, or messages were not counted by pair */
};

enum { PCT_PATTERN_DIMS = 4 };

struct pct_pattern {
    enum pct_pattern_kind kind;
    bool are_uncounted; /* UNKNOWN: of the graph */
    uint32_t n_active;  /* ranks that take part */
    unsigned n_dims;
    uint32_t extents[PCT_PATTERN_DIMS];
    bool periodic[PCT_PATTERN_DIMS];
    unsigned
        reach; /* GRID: number of dimensions in which neighbours may differ; 1: no diagonal ones */
    bool reordered;            /* RING: not in the order of the ranks */
    size_t n_pairs, n_one_way; /* ALL_PAIRS; messages of n_one_way go in one direction only */
    uint32_t master;
    uint32_t arity; /* TREE: each rank r has the parent (r - 1) / arity; 0: another; 1: binomial */
    pc_u128 explained; /* thousandths of a percent of the weight between ranks that is on edges of
                          the pattern */
};

void pct_pattern_find(const struct pct_graph *g, struct pct_pattern *out);
/* False for a dimension of two: both ways lead to the same neighbour. */
bool pct_pattern_knows_period(const struct pct_pattern *p, unsigned dimension);
const char *pct_pattern_name(enum pct_pattern_kind kind);
/* "2-dimensional grid, 4 x 3, periodic in the first dimension". */
void pct_pattern_text(const struct pct_pattern *p, struct pct_buf *b);

/* Appends the pattern of all messages in the topology, in words. */
void pct_topology_pattern(const struct pct_topology *t, struct pct_buf *b);

/* ---- Placement ------------------------------------------------------------------------------ */

struct pct_placement {
    uint32_t *node;        /* by rank */
    pc_u128 before, after; /* weight of edges between nodes */
    /* Set only by pct_slots_place. By rank: index of the socket in the slots; PC_NO_INDEX: sockets
     * of the node are unknown. Weights of edges between sockets of one node. */
    uint32_t *socket;
    pc_u128 sockets_before, sockets_after;
};

/* Places the ranks on nodes with the capacities of the run, so that fewer bytes go between nodes;
 * never worse than before. `node_of` is the placement of the run. */
void pct_placement_find(const struct pct_graph *g, const uint32_t *node_of, uint32_t n_nodes,
                        struct pct_placement *out);
void pct_placement_free(struct pct_placement *p);

/* Nodes and sockets on which ranks can be placed, and the placement of the run. */
struct pct_slots {
    uint32_t n_ranks, n_nodes, n_sockets;
    char **nodes;           /* names */
    uint32_t *node_of;      /* by rank */
    uint32_t *socket_of;    /* by rank; PC_NO_INDEX: unknown */
    uint32_t *first_socket; /* by node; one more at the end */
    uint32_t *numbers;      /* of sockets within their nodes */
    bool has_choice;        /* some node has several sockets */
};

/* The nodes of the run, or n_nodes if not 0, at most as many as ranks, with the same number of
 * ranks or one less on each; with n_sockets sockets each if not 0. */
struct pct_slots *pct_slots_new(const struct pct_topology *t, uint32_t n_nodes, uint32_t n_sockets);
void pct_slots_free(struct pct_slots *s);

/* Places ranks first on nodes, then the ranks of each node on its sockets. */
void pct_slots_place(const struct pct_graph *g, const struct pct_slots *s,
                     struct pct_placement *out);

#endif
