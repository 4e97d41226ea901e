/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of libcollect offer to one another. For libcollect only.
 */
#ifndef PC_CORE_PRIVATE_H
#define PC_CORE_PRIVATE_H

#include "libcollect/context/scope.h"
#include "libcollect/state/state.h"

/* ---- clocks (ticks.c) ---- */
/* Notes the first point of the line from ticks to time, in the constructor, or else at the first
 * call; a second time it does nothing. */
void pc_note_start(void);
/* The scale of ticks before MPI_Init has given a long distance to measure it by. Good to some 0.1
 * %, and used for the bins of histograms only. */
void pc_guess_scale(void);
/* Notes the second point. */
void pc_note_time(void);

/* ---- install_path.c ---- */
/* Notes the path of this library; for the constructor. */
void pc_where_start(void);

/* ---- announce.c ---- */
/* Writes into the header by what the other ranks of the node find this one. Before MPI_Init. */
void pc_launch_announce(void);
/* Whether this process only starts others: a shell, an MPI launcher. Collected programs without MPI
 * are not among them. Needs no configuration. */
bool pc_launch_is_starter(void);
/* Looks for the others; waits a little for those that its launcher promises. After MPI_Init. */
struct pc_presence pc_launch_presence(int n_ranks);

/* ---- threads (thread.c) ---- */
int pc_threads_start(void);
/* The calling thread's state, made or adopted; NULL: it is not measured. */
struct pc_thread *pc_thread_enter(void);
/* The same at the beginning of a thread in `function`; helper: the MPI library made it for itself.
 */
struct pc_thread *pc_thread_enter_as(bool helper, void *function);
/* The calling thread's state, for callers outside of hooks; NULL: it is in a hook, has none, or
 * nothing is collected (yet: plugins start before). */
struct pc_thread *pc_thread_current(void);
/* Brings phase and generation up to date; false: the process no longer collects. */
bool pc_thread_refresh(struct pc_thread *t);

/* ---- the table of threads (threads_table.c) ---- */
enum pc_thread_kind {
    PC_THREAD_PROGRAM = 0,
    PC_THREAD_MAIN,
    PC_THREAD_MPI,
    PC_THREAD_RUNTIME,
    PC_THREAD_WITHOUT /* alive at the merge, and never registered */
};
int pc_census_start(void);
void pc_census_init_begin(void);
void pc_census_init_end(void);
/* `function`: in which the thread starts, or NULL. */
enum pc_thread_kind pc_census_kind(int32_t tid, bool helper, void *function);
void pc_census_enter(struct pc_thread *t, enum pc_thread_kind kind, const char *name);
/* Before the merge: threads that were never registered, in rows of this one. */
void pc_census_rest(struct pc_thread *t);

/* ---- contexts of another tree (copied_context.c) ---- */
/* The context, root to leaf, in this thread's tree, found or made; 0: no room. */
pcollect_ref pc_twin_context(struct pc_thread *t, pcollect_ref theirs);
/* The record that stands for it in this thread's current tree; NULL: no room. */
void *pc_twin_record(struct pc_thread *t, pcollect_ref theirs);

/* ---- calls (call.c) ---- */
bool pc_call_begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
/* The same where plugins ask, so that the wrapper takes the time. */
bool pc_call_begin_asked(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
void pc_call_prepare(struct pc_call *call);
void pc_call_pre(struct pc_call *call);
void pc_call_end(struct pc_call *call);
void pc_call_complete(struct pc_call *by, const struct pc_origin *origin,
                      const struct pc_arrival *arrival);
void pc_call_ended(struct pc_call *by, const struct pc_start *start, enum pcollect_how how,
                   uint64_t wait);
uint64_t pc_call_mpi_ticks(const struct pc_thread *t);
/* The same where `time` is the only plugin. */
void pc_call_end_time(struct pc_call *call);
/* The same where `time` comes first. */
void pc_call_end_time_first(struct pc_call *call);
void pc_call_complete_time(struct pc_call *by, const struct pc_origin *origin,
                           const struct pc_arrival *arrival);

/* ---- communicators (call_domain.c) ---- */
void pc_call_domain(struct pc_call *call, uint64_t domain);
void pc_call_tell_domain(struct pc_call *call, const struct pcollect_domain *domain);
void pc_call_part(struct pc_call *call, uint64_t domain, int32_t world_peer, uint64_t bytes_sent);

/* ---- publication in the arena (publish.c) ---- */
/* Reference of a module or 0 if there is no room. AS-safe. */
pcollect_ref pc_publish_module(struct pc_module *module);
static inline pcollect_ref pc_published_module(struct pc_module *module)
{
    pcollect_ref ref = atomic_load_explicit(&module->arena_ref, memory_order_acquire);
    return PC_LIKELY(ref) ? ref : pc_publish_module(module);
}
void pc_publish_op(uint16_t op);
int pc_publish_plugin(const struct pc_loaded_plugin *plugin);
int pc_publish_compute(const struct pc_loaded_compute *compute);

/* ---- tables (plugin_table.c) ---- */
/* NULL, or why this table cannot be used. */
const char *pc_table_refused(const struct pcollect_table *table);
/* Makes a table known; `plugin` is a plugin's name, or that of a part of the library. Before the
 * first row of it; a second time it does nothing, nor for a name that is taken, which is said once.
 * PC_ENOMEM: no room. Waits for another thread that does the same: not in handlers. */
int pc_table_add(const char *plugin, const struct pcollect_table *table);
/* As in struct pcollect_host, for a thread that is known; NULL finds no row. */
uint64_t *pc_table_row(void *thread, const struct pcollect_table *table, const uint64_t *keys);
uint64_t *pc_table_row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                          const uint64_t *keys);
uint32_t pc_table_string(const char *text);

/* ---- what the system says of the process (resources_table.c) ---- */
int pc_usage_start(void);
/* A start takes processors, and what waits for them then is not what the program does. */
void pc_usage_init_end(void);
/* Before the merge. */
void pc_usage_note(void);

/* ---- jobs that this one started, was started by, or met (jobs_table.c) ---- */
/* core->met_job. */
void pc_jobs_met(struct pc_call *call, int n_local, int n_remote, const char *port);
/* Another job of n_parents processes has spawned this one. Rank 0, when MPI_Init has returned. */
void pc_jobs_spawned(int n_ranks, int n_parents);

/* ---- the table of sockets (machine_table.c) ---- */
/* After the plugins. */
int pc_machine_start(void);
/* Before the merge. */
void pc_machine_note(void);

/* ---- plugins of both kinds (plugin_host.c); init-only ---- */
struct pc_plugin_kind {
    uint32_t kind;
    size_t bytes;       /* of a descriptor */
    const char *option; /* "[sample] plugins": begins messages */
    const char *known;  /* those of the library, as a message names them */
    const void *const *built_in;
    size_t n_built_in;
    /* NULL, or what a descriptor lacks that the host of this kind needs. */
    const char *(*why_refused)(const void *plugin);
};

/* The descriptor of a plugin of the library, by its name, or of the user, by its path: that file
 * stays open. What cannot be used is refused with the reason. */
int pc_plugin_find(const struct pc_plugin_kind *kind, const char *name, const void **out,
                   struct pc_error *error);
/* Calls `add` for each name of the list. A name that is refused ends it, unless it is a path and
 * the configuration is not strict: then that plugin is left out, and that is said. */
int pc_plugins_each(const char *names, int (*add)(const char *name, struct pc_error *error),
                    struct pc_error *error);

/* ---- communication plugins (comm_plugins.c) ---- */
/* Finds and checks the plugins of the configuration; fixes the layout of records. */
int pc_plugins_find(struct pc_error *error);
/* Starts them; the arena is open. */
int pc_plugins_start(void);
void pc_plugins_fini(void);

/* ---- compute plugins (compute_plugins.c): likewise; find after the others, none without samples
 */
int pc_compute_find(struct pc_error *error);
int pc_compute_start(void);
void pc_compute_fini(void);

/* ---- the module that writes (writer.c) ---- */
struct pc_merge_module;
/* NULL if it cannot be opened, which is said. */
const struct pc_merge_module *pc_merge_module(void);
/* Writes what happened since the merge into the profile. */
void pc_write_late(void);

/* ---- ends (finish.c) ---- */
void pc_init_begin(void);
void pc_init_end(const struct pc_transport *transport, const char *mpi);
void pc_finalize_begin(void);
void pc_merge_now(const struct pc_transport *transport);
void pc_finalize_end(void);
/* From our destructor. */
void pc_process_exit(void);

#endif
