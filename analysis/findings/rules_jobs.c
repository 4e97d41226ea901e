/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Other jobs: which there are, and the rule about the calls in which ranks wait for them. A job
 * that this one spawned, was spawned by or met has a profile of its own: here are only the calls
 * that reach it.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <string.h>

/* The columns of the table `jobs`, of calls that made a communicator with another job. */
struct jobs {
    const struct pc_profile_table *table; /* NULL: there is none */
    uint32_t made_by, domain;
};

static struct jobs jobs_of(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "jobs");
    return (struct jobs){t, pc_table_column(t, "made_by", PCOLLECT_COLUMN_STRING),
                         pc_table_column(t, "domain", PCOLLECT_COLUMN_DOMAIN)};
}

static const char *made_by(const struct pc_profile *p, const struct jobs *jobs, uint32_t row)
{
    return pc_profile_string(p, pc_table_cell(jobs->table, row, jobs->made_by));
}

static bool is_spawn(const char *how)
{
    static const char spawn[] = "MPI_Comm_spawn";
    return !strncmp(how, spawn, sizeof spawn - 1);
}

const char *pct_finding_other_jobs(const struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    struct jobs jobs = jobs_of(p);
    uint32_t n = jobs.table ? jobs.table->n_rows : 0, n_spawned = 0, n_parents = 0;
    for (uint32_t row = 0; row < n; row++) {
        const char *how = made_by(p, &jobs, row);
        n_spawned += is_spawn(how);
        n_parents += !strcmp(how, "MPI_Comm_get_parent");
    }
    return !n               ? NULL
           : n_spawned == n ? "processes that this job spawned"
           : n_parents == n ? "the job that spawned this one"
                            : "processes of other jobs";
}

/* True if all processes on the other side of this communicator are another job. Both sides of
 * MPI_Comm_accept and its kind may be parts of this one. */
static bool is_with_spawned(const struct pc_profile *p, const struct jobs *jobs, uint64_t domain)
{
    for (uint32_t row = 0; domain && jobs->table && row < jobs->table->n_rows; row++)
        if (pc_table_cell(jobs->table, row, jobs->domain) == domain &&
            is_spawn(made_by(p, jobs, row)))
            return true;
    return false;
}

/* The part of the time of calls that counts as theirs: those of messages, where `op` is NULL, or
 * those of one collective operation. Which of the calls waited for the busiest rank is not known.
 */
static double own_part(const struct pct_evidence *f, const char *op)
{
    double ns = 0, own_ns = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (op ? strcmp(fact->op, op) != 0 : fact->op_class != PCOLLECT_CLASS_P2P)
            continue;
        ns += fact->ns;
        own_ns += pct_fact_own_ns(fact);
    }
    return ns > 0 ? own_ns / ns : 0;
}

/* Time in blocking sends to processes of other jobs, and in receives from these. */
static double messages_ns(const struct pct_evidence *f)
{
    const struct pc_profile_table *t = pc_profile_table(f->data->profile, "pairs");
    uint32_t source = pc_table_column(t, "source", PCOLLECT_COLUMN_RANK),
             destination = pc_table_column(t, "destination", PCOLLECT_COLUMN_RANK),
             sending = pc_table_column(t, "time", PCOLLECT_COLUMN_NUMBER),
             receiving = pc_table_column(t, "receive_time", PCOLLECT_COLUMN_NUMBER);
    double ns = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++)
        if ((int64_t)pc_table_cell(t, row, source) == PCOLLECT_RANK_OUTSIDE)
            ns += (double)pc_table_cell(t, row, receiving);
        else if ((int64_t)pc_table_cell(t, row, destination) == PCOLLECT_RANK_OUTSIDE)
            ns += (double)pc_table_cell(t, row, sending);
    return ns * own_part(f, NULL);
}

/* Time in collective operations with processes that this job spawned. */
static double collectives_ns(const struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    const struct pc_profile_table *t = pc_profile_table(p, "collectives");
    uint32_t operation = pc_table_column(t, "operation", PCOLLECT_COLUMN_STRING),
             domain = pc_table_column(t, "domain", PCOLLECT_COLUMN_DOMAIN),
             time = pc_table_column(t, "time", PCOLLECT_COLUMN_NUMBER);
    struct jobs jobs = jobs_of(p);
    double ns = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++)
        if (is_with_spawned(p, &jobs, pc_table_cell(t, row, domain)))
            ns += (double)pc_table_cell(t, row, time) *
                  own_part(f, pc_profile_string(p, pc_table_cell(t, row, operation)));
    return ns;
}

/* Time in calls that spawn processes or connect to some; *most_out: the place with most of it. */
static double connecting_ns(const struct pct_evidence *f, const struct pct_fact **most_out)
{
    const struct pct_fact *most = NULL;
    double ns = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (!(fact->traits & PCOLLECT_TRAIT_OUTSIDE))
            continue;
        ns += pct_fact_own_ns(fact);
        most = !most || pct_fact_own_ns(fact) > pct_fact_own_ns(most) ? fact : most;
    }
    *most_out = most;
    return ns;
}

static void find_other_jobs(const struct pct_evidence *f, const struct pct_rule *rule,
                            double threshold, struct pct_findings *out)
{
    const struct pct_fact *connects;
    const char *who = pct_finding_other_jobs(f);
    if (!who)
        return;
    double messages = messages_ns(f), collectives = collectives_ns(f),
           connecting = connecting_ns(f, &connects), ns = messages + collectives + connecting;
    const char *most = "messages", *table = "pairs",
               *advice = "Let the ranks compute meanwhile; pcollect info looks for the profiles "
                         "that show what those processes do.";
    if (connecting > fmax(messages, collectives)) {
        most = connects->place;
        table = "contexts";
        advice = "Call it seldom, and let one call start or connect many processes.";
    } else if (collectives > messages) {
        most = "collective operations";
        table = "collectives";
    }
    if (ns > 0)
        pct_finding_add(out, f, rule, threshold, ns, pct_more_table(table),
                        "For %s ranks are in calls that may wait for %s, most in %s. %s",
                        pct_finding_loss(f, rule, ns), who, most, advice);
}

static const struct pct_rule rows[] = {
    {"other-jobs", 0.05, "ranks wait for jobs that were spawned or met", find_other_jobs, false},
};
const struct pct_rules pct_job_rules = {rows, PC_ARRAY_LEN(rows)};
