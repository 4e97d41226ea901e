/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of an adapter. libcollect/adapter.h describes how it is used. Rules: no MPI
 * symbol, no thread-local data, no malloc, no lock; the real functions are called through tables.
 */
#ifndef PC_ADAPTER_PRIVATE_H
#define PC_ADAPTER_PRIVATE_H

#include "libcollect/mpi/adapter_mpi.h"
#include "libcollect/mpi/ops.h"

#define PC_CHECK_PROTOTYPE(op)
#include "libcollect/mpi/adapter_types.h"
#undef PC_CHECK_PROTOTYPE

/* Set by the adapter's init, before any wrapper can run. */
extern PC_HIDDEN const struct pc_core *pc_core;
extern PC_HIDDEN void *const *pc_mpi;     /* next MPI_X */
extern PC_HIDDEN void *const *pc_pmpi;    /* next PMPI_X */
extern PC_HIDDEN void *const *pc_fortran; /* next definition of each Fortran name */
extern void *(*pc_find_data)(const char *name);

/* Every entry point's wrapper; made by generate.awk. */
extern void *const pc_wrappers[PC_N_SLOTS];

#define PC_SLOT(op, is_pmpi) (2u * (op) + (is_pmpi))

/* The function of the MPI library, for the adapter's own calls. */
#define PC_REAL(op) ((pc_fn_##op *)pc_pmpi[PC_OP_##op])

/* Asks the core whether the call counts. A macro, because the frame has to be the wrapper's own. */
#define PC_BEGIN_BY(begin_it, call, slot)                                                          \
    ((call).fp = PC_SAVED_FP, (begin_it)(&(call), (slot), (uintptr_t)__builtin_dwarf_cfa(),        \
                                         (uintptr_t)__builtin_return_address(0)))
#define PC_BEGIN(call, slot) PC_BEGIN_BY(pc_core->begin, call, slot)
#define PC_BEGIN_QUIET(call, slot) PC_BEGIN_BY(pc_core->begin_quiet, call, slot)

/* Makes the real call between two time stamps, the first of which the core has taken; declares rc.
 * `want` prepares what plugins want; plugins are told only of calls that are counted. */
#define PC_CALL_IF(ask, counted, call, want, real_call)                                            \
    int rc;                                                                                        \
    if (PC_LIKELY(!(ask))) {                                                                       \
        rc = real_call;                                                                            \
        (call).event.end = pc_counter();                                                           \
    } else {                                                                                       \
        want;                                                                                      \
        if (PC_UNLIKELY(pc_core->pre != NULL) && (counted)) {                                      \
            pc_core->pre(&(call));                                                                 \
            (call).event.begin = pc_ticks();                                                       \
        }                                                                                          \
        rc = real_call;                                                                            \
        (call).event.end = pc_ticks();                                                             \
    }                                                                                              \
    (call).event.result = rc
#define PC_CALL(call, want, real_call) PC_CALL_IF(pc_core->asks, true, call, want, real_call)
#define PC_CALL_QUIET(call, want, real_call)                                                       \
    PC_CALL_IF(pc_core->asks_quiet, true, call, want, real_call)
#define PC_CALL_FOLLOWED(call, want, real_call)                                                    \
    PC_CALL_IF(pc_core->asks, counted, call, want, real_call)

/* Rule of MPI_Session_init (adapter_life.c). */
void pc_rule_opened_session(struct pc_call *call, const MPI_Session *session);

/* Notes the copy function of attributes of communicators that are to be made (adapter_life.c). */
void pc_seen_keyval(uintptr_t copy);

/* Rank and size of MPI_COMM_WORLD; valid after MPI_Init. */
extern int pc_world_rank, pc_world_size;

#endif
