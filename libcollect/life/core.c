/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of the library in one process: constructor, start, fork, destructor.
 *
 * A process that makes no MPI call only notes the time of its start (with `[collect] always` it
 * collects). The first MPI call starts the collection through the resolver.
 */
#include "libcollect/call/call.h"
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/life/life.h"
#include "libcollect/life/parts.h"
#include "libcollect/life/program_path.h"
#include "libcollect/sampling/counter_groups.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"
#include "libcollect/state/ops.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { START_NONE, START_RUNNING, START_LATE, START_DONE };

static _Atomic int start_state;
static _Atomic(pthread_t) starting_thread;

static uint64_t *host_row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                             const uint64_t *keys)
{
    return pc_table_row_at(thread ? thread : pc_thread_current(), node, table, keys);
}

static uint64_t *host_row(void *thread, const struct pcollect_table *table, const uint64_t *keys)
{
    return host_row_at(thread, 0, table, keys);
}

static void host_carry(void *histogram, uint32_t n_bins)
{
    uint64_t lost = pc_self ? pc_tree_carry(pc_self->tree, histogram, n_bins) : 0;
    if (lost)
        pc_lost(PCOLLECT_LOST_BINS, lost);
}

static const struct pc_core for_adapters = {
    .abi = PC_CORE_ABI,
    .size = sizeof(struct pc_core),
    .begin = pc_call_begin,
    .follow = pc_call_follow,
    .unfollow = pc_call_unfollow,
    .stand_in = pc_call_stand_in,
    .domain = pc_call_domain,
    .tell_domain = pc_call_tell_domain,
    .met_job = pc_jobs_met,
    .part = pc_call_part,
    .end = pc_call_end,
    .complete = pc_call_complete,
    .ended = pc_call_ended,
    .mpi_ticks = pc_call_mpi_ticks,
    .lost = pc_lost,
    .memory = pc_memory,
    .thread_slot = offsetof(struct pc_thread, adapter_slot),
    .control = pc_scope_control,
    .init_begin = pc_init_begin,
    .init_end = pc_init_end,
    .finalize_begin = pc_finalize_begin,
    .alive = pc_note_alive,
    .merge = pc_merge_now,
    .finalize_end = pc_finalize_end,
    .string = pc_table_string,
};

/* Runs in a forked child, which must collect nothing, write nothing and keep nothing open. */
static void forget_in_child(void)
{
    atomic_store_explicit(&pc_live->stage, PC_STAGE_OFF, memory_order_relaxed);
    pc_arena_forget(&pc_process.arena);
    pc_parts_forget();
}

/* Notes the path of the profile. The program may change its working directory later, so the path is
 * made absolute now. */
static void fill_out(struct pcollect_arena_header *h)
{
    const char *out = pc_process.config.output_path;
    char folder[PATH_MAX], pattern[sizeof h->out];
    pc_format(h->out, sizeof h->out, "%s", out);
    if (out[0] == '/' || !getcwd(folder, sizeof folder))
        return;
    if (pc_config_pattern(folder, pattern, sizeof pattern) &&
        pc_format(h->out, sizeof h->out, "%s/%s", folder[1] ? pattern : "", out) + 1 <
            sizeof h->out)
        return;
    pc_core_complain(
        "with the working directory the path of the profile is longer than %d bytes: it "
        "is written in the folder in which the program ends; set an absolute [output] "
        "path",
        (int)sizeof h->out - 2);
    pc_format(h->out, sizeof h->out, "%s", out);
}

static void fill_header(void)
{
    struct pcollect_arena_header *h = pc_header();
    h->run_key = pc_process.config.run_key;
    h->per_rank = (uint32_t)pc_process.config.output_per_rank;
    h->contexts = (uint32_t)pc_process.config.output_contexts;
    h->values_kib = (uint32_t)((pc_process.config.output_values + 1023) >> 10);
    h->ticks_0 = h->start_ticks = pc_process.first_ticks;
    h->mono_0_ns = pc_process.first_mono_ns;
    pc_clock_pair(&h->ticks_1, &h->mono_1_ns);
    h->realtime_0_ns = pc_clock_ns(CLOCK_REALTIME) - (h->mono_1_ns - h->mono_0_ns);
    h->record_bytes = pc_process.record_bytes;
    h->comm_bytes = pc_process.comm_bytes;
    if (!pc_clock_is_counter)
        h->notes |= PCOLLECT_NOTE_SLOW_CLOCK;
    pc_program_path(h->exe, sizeof h->exe);
    pc_format(h->job, sizeof h->job, "%s", pc_process.config.job_id);
    if (pc_process.config.collect_always)
        h->flags |= PCOLLECT_ARENA_ALWAYS;
    pc_launch_announce();
    fill_out(h);
}

static const char *host_op_name(uint16_t op)
{
    return pc_op_name(op);
}

static uint32_t host_op_traits(uint16_t op)
{
    return pc_op_traits(op);
}

static uint64_t host_realtime_ns(uint64_t ticks)
{
    const struct pcollect_arena_header *h = pc_header();
    return h->realtime_0_ns + pc_clock_to_ns(ticks - h->ticks_0, pc_process.host.ns_per_tick_q32);
}

static void host_log(const char *text)
{
    pc_log("%s", text);
}

static void complain(const char *text)
{
    pc_core_complain("%s", text);
}

void pc_core_abandon(void)
{
    pc_launch_withdraw();
    if (pc_process.config.collect_always)
        return;
    atomic_store_explicit(&pc_live->stage, PC_STAGE_OFF, memory_order_release);
    pc_arena_unlink(&pc_process.arena);
}

void pc_core_leave(const char *why)
{
    int saved = errno;
    bool collects = atomic_load(&pc_live->stage) == PC_STAGE_MAIN;
    if (atomic_exchange(&pc_control.left, true))
        return;
    atomic_store_explicit(&pc_live->stage, PC_STAGE_OFF, memory_order_release);
    if (collects) {
        pc_launch_leave();
        __atomic_fetch_or(&pc_header()->notes, (uint64_t)PCOLLECT_NOTE_LEFT, __ATOMIC_RELAXED);
        pc_core_complain(
            "%s: nothing is collected from here on, and the job writes no profile; %s", why,
            pc_process.arena.is_file ? "`pcollect recover` makes one of what was collected"
                                     : "without a file in a spool nothing is kept of this process");
    }
    errno = saved;
}

static int load_configuration(void)
{
    struct pc_error error;
    int err = pc_config_load(&pc_process.config, &error);
    if (!err)
        err = pc_parts_find(&error);
    if (!err)
        return PC_OK;
    complain(error.text);
    if (pc_process.config.strict) {
        complain("the run is stopped because PCOLLECT_STRICT is set");
        _exit(2);
    }
    complain("this run is not measured");
    return err;
}

/* The way out where no file can be created: a limit of the process holds in any folder. */
static const char *way_out(void)
{
    struct rlimit limit;
    bool limited = !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < PC_ARENA_MIN_BYTES;
    return limited ? "raise the limit (ulimit -f)" : "set another folder with [spool] path";
}

/* Opens the arena in the first spool with room for a file. Without one the run is measured all the
 * same, and the user is told at once what a kill would cost. */
static int open_arena(void)
{
    const struct pc_config *c = &pc_process.config;
    struct pc_arena *a = &pc_process.arena;
    struct pc_error error, first = {""};
    int n_local = pc_config_launch().n_local;
    long n = n_local > 0 ? n_local : sysconf(_SC_NPROCESSORS_ONLN);
    const char *spool = pc_config_spool(c, 0);
    for (unsigned i = 0;; spool = pc_config_spool(c, ++i)) {
        int err = pc_arena_open(a, spool, c->collect_buffer_size, &error);
        if (err) {
            complain(error.text);
            return err;
        }
        if (a->is_file && pc_arena_share(a, n > 0 ? (unsigned)n : 1))
            return PC_OK;
        if (!i)
            pc_format(first.text, sizeof first.text, "%s",
                      a->is_file ? "too small for all processes of the node" : error.text);
        if (!spool)
            break;
        pc_arena_unlink(a);
        pc_arena_close(a);
    }
    pc_core_complain("no file can be created to collect in (%s): a kill of the job would lose the "
                     "data; %s",
                     first.text, way_out());
    pc_run_tell_memory();
    return PC_OK;
}

/* Starts what needs the arena. Returns the reason if it cannot, or NULL. */
static const char *start_parts(void)
{
    if (pc_threads_start())
        return "the program has taken all keys of thread-specific data";
    if (pc_parts_start())
        return "not enough memory to collect";
    return pthread_atfork(NULL, NULL, forget_in_child) ? "no memory for pthread_atfork" : NULL;
}

static int start(void)
{
    pc_process.core = for_adapters;
    pc_process.pid = getpid();
    pc_note_start();
    if (load_configuration() || pc_process_make_live())
        return PC_EARG;
    if (open_arena())
        return PC_ENOMEM;
    fill_header();
    pc_process.host = (struct pcollect_host){.abi = PCOLLECT_PLUGIN_ABI,
                                             .size = sizeof(struct pcollect_host),
                                             .op_name = host_op_name,
                                             .log = host_log,
                                             .row = host_row,
                                             .row_at = host_row_at,
                                             .carry = host_carry,
                                             .op_traits = host_op_traits,
                                             .realtime_ns = host_realtime_ns,
                                             .string = pc_table_string};
    pc_guess_scale();
    const char *why = start_parts();
    if (why) {
        pc_arena_unlink(&pc_process.arena);
        pc_core_complain("%s; this run is not measured", why);
        return PC_EARG;
    }
    atomic_store_explicit(&pc_live->stage, PC_STAGE_MAIN, memory_order_release);
    return PC_OK;
}

bool pc_core_start(void)
{
    int state = START_NONE;
    if (atomic_load(&pc_control.left))
        return false;
    if (atomic_compare_exchange_strong(&start_state, &state, START_RUNNING)) {
        int saved = errno;
        atomic_store(&starting_thread, pthread_self());
        atomic_store(&pc_process.refused, start() != PC_OK);
        atomic_store_explicit(&start_state, START_DONE, memory_order_release);
        errno = saved;
    } else if (state == START_RUNNING) {
        pc_core_await(&start_state, START_RUNNING, START_LATE, atomic_load(&starting_thread));
    }
    return atomic_load(&start_state) == START_DONE && !atomic_load(&pc_process.refused) &&
           atomic_load(&pc_live->stage);
}

const struct pc_core *pc_core_table(void)
{
    return &pc_process.core;
}

__attribute__((constructor)) static void begin_process(void)
{
    int saved = errno;
    pc_log_note_error();
    pc_note_start();
    pc_where_start();
    pc_next_find_all();
    pc_threads_start();
    if (pc_config_always() && !pc_launch_is_starter() && pc_core_start() &&
        (pc_sampler_signal || pc_counters_any()))
        pc_thread_enter(); /* the process may never make an MPI call */
    errno = saved;
}

__attribute__((destructor)) static void end_process(void)
{
    if (!atomic_load_explicit(&pc_live->stage, memory_order_acquire))
        return;
    int saved = errno, cancel = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* plugins end here */
    pc_process_exit();
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}
