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
static const char *function_of(const struct pct_fact *fact)
{
    return fact->function ? fact->function : "";
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

static bool starts_messages(const struct pct_fact *fact)
{
    return fact->is_message && fact->traits & PCOLLECT_TRAIT_STARTS;
}

/* True for a start of anything else. */
static bool starts_others(const struct pct_fact *fact)
{
    return !fact->is_message && fact->traits & PCOLLECT_TRAIT_STARTS;
}

static void gather_functions(const struct pct_evidence *f, struct functions *set,
                             bool (*is_in)(const struct pct_fact *))
{
    set->list = pct_alloc(f->n, sizeof *set->list);
    for (size_t i = 0; i < f->n; i++)
        if (is_in(&f->list[i]))
            set->list[set->n++] = function_of(&f->list[i]);
    qsort(set->list, set->n, sizeof *set->list, pc_by_text);
}

/* True for a call that asks for messages, whatever requests there are. */
static bool probes(const struct pct_fact *fact)
{
    return fact->traits & PCOLLECT_TRAIT_SOURCE;
}

void pct_evidence_find_messages(struct pct_evidence *f)
{
    struct functions messages = {.n = 0}, others = {.n = 0};
    for (size_t i = 0; i < f->n; i++)
        f->list[i].is_message = f->list[i].op_class == PCOLLECT_CLASS_P2P &&
                                !may_start_others(f->data->profile, f->list[i].op);
    gather_functions(f, &messages, starts_messages);
    gather_functions(f, &others, starts_others);
    for (size_t i = 0; i < f->n; i++) {
        struct pct_fact *fact = &f->list[i];
        const char *function = function_of(fact);
        bool alone = !others.n || (contains(&messages, function) && !contains(&others, function));
        if (fact->op_class == PCOLLECT_CLASS_COMPLETION)
            fact->is_message = alone || probes(fact);
    }
    pct_free(messages.list);
    pct_free(others.list);
}
