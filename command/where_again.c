/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A second look at ranks that seem to wait for each other. The ranks of a job that was suspended
 * are in calls that began long ago, though each of them may go on as soon as it gets a processor.
 * So a conclusion needs ranks that have had one since the first look, and are in the same call.
 */
#include "analysis/allocation.h"
#include "command/where_calls.h"

#include <stdlib.h>
#include <time.h>

/* A rank has had its time if it has run for RUN_NS, tens of thousands of looks for a message, or
 * sleeps after SLEEP_NS: the kernel wakes it for a message. */
enum { RUN_NS = 50000000, SLEEP_NS = 200000000, STEP_NS = 10000000 };
static const uint64_t most_ns = 10000000000;

/* A rank that seems to wait. */
struct watched_call {
    size_t rank; /* index */
    int pid, tid;
    bool known; /* the kernel tells how long the thread has run */
    uint64_t ran_ns;
    bool settled;
};

static bool read_run_time(const struct watched_call *c, uint64_t *ns)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", c->pid, c->tid);
    if (!pc_read_small(path, text, sizeof text))
        return false;
    *ns = strtoull(text, NULL, 10);
    return true;
}

static size_t find_calls(const struct pct_where_calls *c, const struct pct_watch *w,
                         struct watched_call *out)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct pct_waiting *r = &c->ranks[i];
        if (!r->call->known || r->ns < pct_waits_least_ns || r->several || r->may_act)
            continue;
        struct watched_call *call = &out[n++];
        *call = (struct watched_call){.rank = i,
                                      .pid = w->job->processes[c->stacks[i]->process].pid,
                                      .tid = c->stacks[i]->tid};
        call->known = read_run_time(call, &call->ran_ns);
    }
    return n;
}

static bool has_had_time(const struct watched_call *c, uint64_t passed_ns)
{
    struct pc_process_status p;
    uint64_t ran_ns;
    if (passed_ns >= SLEEP_NS && pc_process_look(c->tid, &p) && (p.state == 'S' || p.state == 'D'))
        return true;
    if (!c->known || !read_run_time(c, &ran_ns))
        return passed_ns >= pct_waits_least_ns;
    return ran_ns - c->ran_ns >= RUN_NS;
}

/* Waits until all calls have had time to end; after ten seconds the others stay unsettled. */
static void settle(struct watched_call *calls, size_t n)
{
    uint64_t begin_ns = pc_mono_ns(), passed_ns = 0;
    size_t n_settled = 0;
    while (n_settled < n && passed_ns < most_ns) {
        pc_nap_ns(STEP_NS);
        passed_ns = pc_mono_ns() - begin_ns;
        for (size_t i = 0; i < n; i++) {
            bool now = !calls[i].settled && has_had_time(&calls[i], passed_ns);
            calls[i].settled |= now;
            n_settled += now;
        }
    }
}

/* True if the rank is in the same call as before. */
static bool is_in_call(struct pct_watch *again, const struct pct_watched_stack *before)
{
    struct pc_error error;
    size_t first = again->n_stacks;
    if (pct_watch_take(again, before->process, &error))
        return false;
    for (size_t i = first; i < again->n_stacks; i++) {
        const struct pct_mpi_call *call = &again->stacks[i].call;
        if (again->stacks[i].tid == before->tid)
            return call->known && call->op == before->call.op && call->at == before->call.at &&
                   call->begin == before->call.begin;
    }
    return false;
}

bool pct_where_look_again(struct pct_where_calls *c, void *watch)
{
    const struct pct_watch *w = watch;
    struct pct_watch again = {
        .job = w->job, .all_threads = w->all_threads, .frames.files = w->frames.files};
    struct watched_call *calls = pct_alloc(c->n, sizeof *calls);
    size_t n = find_calls(c, w, calls), n_marked = 0;
    settle(calls, n);
    for (size_t i = 0; i < n; i++) {
        struct pct_waiting *r = &c->ranks[calls[i].rank];
        r->may_act = !calls[i].settled || !is_in_call(&again, c->stacks[calls[i].rank]);
        n_marked += r->may_act;
    }
    again.frames.files = NULL; /* they are w's */
    pct_watch_free(&again);
    pct_free(calls);
    return n_marked > 0;
}
