/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One MPI call, as the adapters ask for it (struct pc_core in libcollect/adapter.h).
 */
#ifndef PC_CALL_H
#define PC_CALL_H

#include "libcollect/state/state.h"

/* ---- calls (call.c) ---- */
bool pc_call_begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
/* Begins a call where ticks do not come from the processor's counter. */
bool pc_call_begin_by_clock(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
void pc_call_pre(struct pc_call *call);
void pc_call_end(struct pc_call *call);
void pc_call_complete(struct pc_call *by, const struct pc_start *start, uint64_t bytes,
                      uint64_t domain, int32_t world_source);
void pc_call_ended(struct pc_call *by, const struct pc_start *start, enum pcollect_how how,
                   uint64_t wait);
uint64_t pc_call_mpi_ticks(const struct pc_thread *t);
/* Ends a call where `time` is the only plugin, or the only one to be told of the call. */
void pc_call_end_time(struct pc_call *call);
/* Ends a call where `time` comes first. */
void pc_call_end_time_first(struct pc_call *call);
/* Completes a receive where `time` comes first. */
void pc_call_complete_time(struct pc_call *by, const struct pc_start *start, uint64_t bytes,
                           uint64_t domain, int32_t world_source);

/* ---- calls that are not measured (call_followed.c) ---- */
bool pc_call_follow(struct pc_call *call);
void pc_call_unfollow(struct pc_call *call);
bool pc_call_stand_in(struct pc_call *call);

/* ---- communicators (call_domain.c) ---- */
void pc_call_domain(struct pc_call *call, uint64_t domain);
void pc_call_tell_domain(struct pc_call *call, const struct pcollect_domain *domain);
void pc_call_part(struct pc_call *call, uint64_t domain, int32_t world_peer, uint64_t bytes_sent);

#endif
