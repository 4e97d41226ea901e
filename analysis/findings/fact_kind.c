/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tells of what kind the calls of a place are: by their name, and which are about messages.
 * MPI_Wait and its kind complete messages, collective operations, files and transfers of windows
 * alike, and MPI_Start starts collective operations too. So a call of these counts as one about
 * messages only if nothing else is started: in the run, or in a function that also starts messages.
 *
 * Data structure: two lists of functions of the program, those that start messages and those that
 * start other requests.
 */
#include "analysis/findings/findings.h"

#include "libcollect/state/ops.h"

#include <stdlib.h>
#include <string.h>

struct functions {
    const char **list; /* with repetitions, in the order of their names */
    size_t n;
};

static bool contains(const struct functions *set, const char *name)
{
    return set->n && bsearch(&name, set->list, set->n, sizeof *set->list, pc_by_text);
}

/* Unknown functions are taken to be one. */
static const char *function_of(const struct pct_context_calls *calls)
{
    return calls->function ? calls->function : "";
}

static const struct pc_profile_op *op_of(const struct pct_evidence *f,
                                         const struct pct_context_calls *calls)
{
    return &f->data->profile->ops[pct_data_tree(f->data)->nodes[calls->node].op];
}

/* True for a start of persistent operations, by name, in a run that makes some that are collective.
 */
static bool may_start_others(const struct pc_profile *p, const char *op)
{
    if (strcmp(op, "MPI_Start") != 0 && strcmp(op, "MPI_Startall") != 0)
        return false;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (p->ops[i].op_class == PCOLLECT_CLASS_COLL &&
            pc_op_traits_of(p->ops[i].name) & PCOLLECT_TRAIT_PERSISTENT)
            return true;
    return false;
}

bool pct_finding_may_poll(const char *op)
{
    return pc_op_traits_of(op) & PCT_MAY_POLL;
}

/* The functions that start messages, or anything else. */
static struct functions gather_starts(const struct pct_evidence *f,
                                      const struct pct_context_calls *list, size_t n, bool messages)
{
    struct functions set = {.list = pct_alloc(n, sizeof *set.list)};
    for (size_t i = 0; i < n; i++)
        if (list[i].is_message == messages &&
            pc_op_traits_of(op_of(f, &list[i])->name) & PCOLLECT_TRAIT_STARTS)
            set.list[set.n++] = function_of(&list[i]);
    qsort(set.list, set.n, sizeof *set.list, pc_by_text);
    return set;
}

/* True for a call that asks for messages, whatever requests there are. */
static bool probes(const char *op)
{
    return pc_op_traits_of(op) & PCOLLECT_TRAIT_SOURCE;
}

void pct_evidence_find_messages(const struct pct_evidence *f, struct pct_context_calls *list,
                                size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pc_profile_op *op = op_of(f, &list[i]);
        list[i].is_message =
            op->op_class == PCOLLECT_CLASS_P2P && !may_start_others(f->data->profile, op->name);
    }
    struct functions messages = gather_starts(f, list, n, true),
                     others = gather_starts(f, list, n, false);
    for (size_t i = 0; i < n; i++) {
        const char *function = function_of(&list[i]);
        bool alone = !others.n || (contains(&messages, function) && !contains(&others, function));
        const struct pc_profile_op *op = op_of(f, &list[i]);
        if (op->op_class == PCOLLECT_CLASS_COMPLETION)
            list[i].is_message = alone || probes(op->name);
    }
    pct_free(messages.list);
    pct_free(others.list);
}
