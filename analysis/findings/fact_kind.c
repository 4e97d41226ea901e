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

#include <stdlib.h>
#include <string.h>

bool pct_finding_is_one_of(const struct pct_fact *fact, const char *const *names)
{
    for (; !strncmp(fact->op, "MPI_", strlen("MPI_")) && *names; names++) {
        size_t n = strlen(*names);
        const char *op = fact->op + strlen("MPI_");
        if (!strncmp(op, *names, n) && (!op[n] || !strcmp(op + n, "_c")))
            return true;
    }
    return false;
}

bool pct_finding_begins_with(const struct pct_fact *fact, const char *start)
{
    return !strncmp(fact->op, start, strlen(start));
}

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

/* True for a function that makes persistent collective operations. */
static bool makes_persistent(const struct pc_profile_op *op)
{
    const char *end = strstr(op->name, "_init");
    return op->op_class == PCOLLECT_CLASS_COLL && end &&
           (!strcmp(end, "_init") || !strcmp(end, "_init_c"));
}

bool pct_op_may_start_others(const struct pc_profile *p, const char *op)
{
    if (strcmp(op, "MPI_Start") != 0 && strcmp(op, "MPI_Startall") != 0)
        return false;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (makes_persistent(&p->ops[i]))
            return true;
    return false;
}

static bool starts_messages(const struct pct_evidence *f, const struct pct_fact *fact)
{
    static const char *const starts[] = {
        "Isend",  "Ibsend", "Issend",   "Irsend",    "Irecv",
        "Imrecv", "Start",  "Startall", "Isendrecv", "Isendrecv_replace",
        NULL};
    (void)f;
    return fact->is_message && pct_finding_is_one_of(fact, starts);
}

/* True for a start of anything else. */
static bool starts_others(const struct pct_evidence *f, const struct pct_fact *fact)
{
    switch (fact->op_class) {
    case PCOLLECT_CLASS_P2P:
        return pct_op_may_start_others(f->data->profile, fact->op);
    case PCOLLECT_CLASS_COLL:
        return pct_finding_begins_with(fact, "MPI_I");
    case PCOLLECT_CLASS_COMM:
        return pct_finding_begins_with(fact, "MPI_Comm_i");
    case PCOLLECT_CLASS_IO:
        return pct_finding_begins_with(fact, "MPI_File_i");
    case PCOLLECT_CLASS_RMA:
        return pct_finding_begins_with(fact, "MPI_R");
    default:
        return !strcmp(fact->op, "MPI_Grequest_start");
    }
}

static void gather_functions(const struct pct_evidence *f, struct functions *set,
                             bool (*is_in)(const struct pct_evidence *, const struct pct_fact *))
{
    set->list = pct_alloc(f->n, sizeof *set->list);
    for (size_t i = 0; i < f->n; i++)
        if (is_in(f, &f->list[i]))
            set->list[set->n++] = function_of(&f->list[i]);
    qsort(set->list, set->n, sizeof *set->list, pc_by_text);
}

/* True for a call that asks for messages, whatever requests there are. */
static bool probes(const struct pct_fact *fact)
{
    static const char *const names[] = {"Probe", "Iprobe", "Mprobe", "Improbe", NULL};
    return pct_finding_is_one_of(fact, names);
}

void pct_evidence_find_messages(struct pct_evidence *f)
{
    struct functions messages = {.n = 0}, others = {.n = 0};
    for (size_t i = 0; i < f->n; i++)
        f->list[i].is_message = f->list[i].op_class == PCOLLECT_CLASS_P2P &&
                                !pct_op_may_start_others(f->data->profile, f->list[i].op);
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
