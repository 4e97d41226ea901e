/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect where over the nodes of a job. On each of them the command starts itself as an agent, by
 * a remote shell. An agent writes the stacks of its ranks to its standard output. Then, if it is
 * asked to, it sends the names of their places, which it looks up in its files, and looks once more
 * at ranks that seem to wait. It ends with its standard input.
 *
 * The second look begins after the first ones of all nodes. So the calls in which both find a rank
 * belong to one moment on all nodes, though the agents begin at different times and the nodes have
 * different clocks.
 */
#ifndef PCT_WHERE_NODES_H
#define PCT_WHERE_NODES_H

#include "command/command.h"
#include "command/where_calls.h"
#include "watch/node_stacks.h"

struct pct_where_order {
    const char *hosts, *shell; /* of --hosts and --remote-shell */
    const char *job;           /* JOB; NULL: the only one here */
    uint64_t times, every_ms;
    bool all_threads;
};

struct pct_where_nodes;

/* Takes the stacks of the job on all nodes: w->job and the stacks become those of all of them. A
 * node without an answer is reported, and the others are shown. NULL: there is nothing to show. */
struct pct_where_nodes *pct_where_nodes_take(const struct pct_command *self,
                                             const struct pct_where_order *order,
                                             struct pct_watch *w, struct pct_watched_job *job,
                                             struct pct_where_time *last, int *status);
void pct_where_nodes_free(struct pct_where_nodes *nodes); /* NULL is allowed */

size_t pct_where_nodes_count(const struct pct_where_nodes *nodes);
const char *pct_where_nodes_exe(const struct pct_where_nodes *nodes);
/* Ranks of the job on all nodes, by their launchers; -1: unknown, or a node has not answered. */
int pct_where_nodes_ranks(const struct pct_where_nodes *nodes);

/* Asks the nodes for the names of places in files that are not here: into w->frames.named. */
void pct_where_nodes_name(struct pct_where_nodes *nodes, struct pct_watch *w,
                          const struct pc_profile *p, struct pct_symbols *symbols);

/* As pct_where_look_again, on all nodes. */
bool pct_where_nodes_look_again(struct pct_where_calls *c, void *nodes);

/* ---- The agent ------------------------------------------------------------------------------- */

/* Finds the job by the word that it was given; there may be no rank of it on this node. */
int pct_where_agent_find(const struct pct_command *self, const char *word,
                         struct pct_watched_job *job);
/* Answers with the stacks of w. */
int pct_where_agent(struct pct_watch *w, const struct pct_where_time *last);

#endif
