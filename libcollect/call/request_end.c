/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of operations with requests, for the plugins that want it (PCOLLECT_WANT_REQUEST). The
 * adapter reports what it remembered of the start and which call saw the end. This file computes
 * the duration, and the part of it that the starting thread spent outside MPI. On the measured
 * path.
 */
#include "libcollect/call/call.h"
#include "libcollect/context/copied_context.h"
#include "libcollect/state/state.h"

/* The value of another thread may be one call old. */
uint64_t pc_call_mpi_ticks(const struct pc_thread *t)
{
    return __atomic_load_n(&t->record->mpi_ticks, __ATOMIC_RELAXED);
}

/* Time before the completing call that the starting thread spent outside MPI. */
static uint64_t overlap_of(const struct pc_start *start, uint64_t until)
{
    uint64_t passed = until > start->begin ? until - start->begin : 0;
    uint64_t in_mpi = pc_call_mpi_ticks(start->origin.thread) - start->mpi_ticks;
    return in_mpi < passed ? passed - in_mpi : 0;
}

static void tell(struct pc_thread *t, const struct pc_start *start, const struct pcollect_end *end)
{
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, start->origin.node);
    char *record = pc_arena_at(&pc_process.arena, n->record);
    if (PC_UNLIKELY(start->origin.thread != t))
        record = pc_twin_record(t, start->origin.node);
    if (!record) {
        pc_lost(PCOLLECT_LOST_ROWS, 1);
        return;
    }
    for (uint32_t i = 0; i < pc_process.n_plugins; i++) {
        const struct pc_loaded_plugin *p = &pc_process.plugins[i];
        if (p->comm->ended)
            p->comm->ended(p->state, end, record + p->record_offset);
    }
}

void pc_call_ended(struct pc_call *by, const struct pc_start *start, enum pcollect_how how,
                   uint64_t wait)
{
    struct pc_thread *t = by ? by->thread : pc_self;
    if (!t || t->busy)
        return;
    if (start->origin.epoch != t->stage) {
        pc_lost(PCOLLECT_LOST_ROWS, 1); /* started before the merge, ended after it */
        return;
    }
    struct pcollect_end end = {.size = sizeof end,
                               .how = how,
                               .start_node = start->origin.node,
                               .bytes_sent = start->bytes_sent,
                               .bytes_received = start->bytes_received,
                               .wait = wait,
                               .thread = t};
    if (by && how != PCOLLECT_ENDED_AT_ONCE) {
        end.flight = by->event.end > start->begin ? by->event.end - start->begin : 0;
        end.overlap = overlap_of(start, by->event.begin);
    }
    if (by)
        end.end_node = by->node;
    t->busy = 1;
    barrier();
    tell(t, start, &end);
    barrier();
    t->busy = 0;
}
