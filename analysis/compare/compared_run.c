/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs that are compared: the figures of the whole run, and what is made of its profile.
 */
#include "analysis/compare/compared_run_private.h"
#include "analysis/compare/join_private.h"

#include "analysis/open_calls.h"
#include "analysis/traffic/traffic.h"
#include "analysis/tree/samples.h"

#include <math.h>
#include <string.h>

static const struct pc_profile_module *program_of(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_modules; i++) {
        if (p->modules[i].flags & PCOLLECT_MODULE_EXE)
            return &p->modules[i];
    }
    return NULL;
}

/* The time of the run on each rank is that of its longest rank. If the others lost more time
 * without a processor, they would have waited for that rank instead: in MPI calls up to the delay
 * of these, else for the computation of the rank that computes longest, as far as it is ahead. What
 * is more than their delay is time before or after that of the rank. */
static void add_waiting(struct pct_run *run, uint32_t n_ranks, double mpi_ns, double delayed_ns,
                        double unequal_ns)
{
    struct pct_run_own *own = &run->own;
    double missing_ns = fmax(0, own->time_ns * n_ranks - own->core_ns);
    double in_calls_ns = fmin(fmax(0, missing_ns - unequal_ns), delayed_ns);
    own->core_ns += missing_ns;
    own->instead_ns = missing_ns - in_calls_ns;
    own->delayed_ns = run->delayed_ns - in_calls_ns;
    own->mpi_part = mpi_ns > 0 ? (mpi_ns - delayed_ns + in_calls_ns) / mpi_ns : 1;
}

struct pct_rank_times *pct_run_times(const struct pct_run *run, const struct pct_totals *m)
{
    struct pct_rank_times *t = pct_rank_times_new(m);
    for (size_t i = 0; i < t->n; i++) {
        t->list[i].own_ns += t->list[i].bindings_ns;
        if (!run->keeps_delay)
            continue;
        t->list[i].own_ns = t->list[i].wall_ns - t->list[i].library_ns;
        t->list[i].delayed_ns = t->list[i].unsure_ns = t->list[i].all_delayed_ns = 0;
    }
    if (run->keeps_delay)
        t->delayed_ns = t->unsure_ns = t->all_delayed_ns = 0;
    return t;
}

/* Delays of other threads than the main threads, of all ranks: an upper bound. */
static double find_others_ns(const struct pct_rank_times *t)
{
    double ns = t->all_delayed_ns;
    for (size_t i = 0; i < t->n; i++)
        ns -= pct_rank_time_main_delayed_ns(&t->list[i]);
    return fmax(0, ns);
}

/* The time of the longest rank from the end of MPI_Init on, without its delay and the library.
 * Ranks that come early to MPI_Init wait there for the others. */
static double find_longest_ns(const struct pct_totals *m, const struct pct_rank_times *t)
{
    const struct pc_profile *p = m->profile;
    double longest_ns = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        double run_ns = (double)pct_totals_run_ns(&p->ranks[i]) - m->rank_init_ns[i];
        longest_ns = fmax(longest_ns, run_ns - t->list[i].all_delayed_ns - t->list[i].library_ns);
    }
    return longest_ns;
}

static void describe_own(struct pct_run *run, const struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    struct pct_rank_times *t = pct_run_times(run, m);
    struct pct_run_own *own = &run->own;
    struct pct_end end = m->end;
    double mpi_ns = -run->init_ns - end.own_ns, unequal_ns = 0;
    run->end_ns = end.own_ns;
    enum pct_division division = pct_rank_times_division(t);
    run->too_short = division == PCT_DIVISION_GUESSED;
    run->guessed = run->too_short || division == PCT_DIVISION_UNSURE;
    run->undivided = run->n_incomplete && !t->divided;
    run->threads_wait = t->threads_wait;
    run->renews_threads = t->renews_threads;
    run->n_working = t->n_working;
    run->n_threads = t->n_threads < p->n_ranks ? 0 : t->n_threads;
    run->polls_ns = t->polls_ns;
    run->work_ns = t->work_ns;
    run->for_threads_ns = t->for_threads_ns;
    run->waiting_ns = run->too_short ? 0 : t->delayed_ns - t->unsure_ns;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        mpi_ns += (double)pct_totals_run_ns(&p->ranks[i]) - t->list[i].wall_ns;
        own->compute_ns += t->list[i].own_ns;
        run->cpu_ns += t->list[i].cpu_ns - t->list[i].library_ns;
        own->busiest_ns = fmax(own->busiest_ns, t->list[i].own_ns);
        run->library_ns += t->list[i].library_ns;
        run->variance += fmax(0, t->list[i].variance);
    }
    unequal_ns = own->busiest_ns * p->n_ranks - own->compute_ns;
    mpi_ns = fmax(0, mpi_ns);
    double delayed_ns = fmin(mpi_ns, fmax(0, t->all_delayed_ns - t->delayed_ns));
    run->delayed_ns = t->delayed_ns + delayed_ns;
    run->others_ns = fmin(run->delayed_ns, find_others_ns(t));
    own->core_ns = own->compute_ns + mpi_ns - delayed_ns;
    if (p->n_ranks)
        own->time_ns = fmax(find_longest_ns(m, t) - run->end_ns / p->n_ranks,
                            own->core_ns / (double)p->n_ranks);
    own->time_ns = fmax(own->time_ns, own->busiest_ns);
    double last_part = end.all_ns > 0 ? 1 - end.own_ns / end.all_ns : 1; /* of MPI_Finalize */
    double part = mpi_ns > 0 ? 1 - delayed_ns / mpi_ns : 1;
    run->undelayed = (struct pct_run_undelayed){
        own->core_ns + run->end_ns, part, end.all_ns > 0 ? part * last_part + 1 - last_part : 1};
    add_waiting(run, p->n_ranks, mpi_ns, delayed_ns, unequal_ns);
    own->end_part = end.all_ns > 0 ? own->mpi_part * last_part : 1;
    pct_rank_times_free(t);
}

static const char *command_of(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "command_lines");
    uint32_t column = pc_table_column(t, "command", PCOLLECT_COLUMN_STRING);
    return t && t->n_rows == 1 ? pc_profile_string(p, pc_table_cell(t, 0, column)) : "";
}

/* Adds what was sampled before MPI_Init, of each rank the mean: contexts have it as well, since the
 * program called MPI already, and so do all times. */
static void add_early(struct pct_run *run, const struct pc_profile *p)
{
    struct pct_samples *samples = pct_samples_new(p);
    struct pct_run_own *own = &run->own;
    run->early_ns = pct_samples_early_ns(samples);
    double mean_ns = p->n_ranks ? run->early_ns / p->n_ranks : 0;
    double *const sums[] = {&run->core_ns, &run->compute_ns, &run->undelayed.core_ns,
                            &own->core_ns, &own->compute_ns, &run->cpu_ns};
    double *const longest[] = {&run->time_ns, &run->busiest_ns, &own->time_ns, &own->busiest_ns};
    for (size_t i = 0; i < PC_ARRAY_LEN(sums); i++)
        *sums[i] += run->early_ns;
    for (size_t i = 0; i < PC_ARRAY_LEN(longest); i++)
        *longest[i] += mean_ns;
    run->work_ns += run->work_ns > 0 ? run->early_ns : 0;
    pct_samples_free(samples);
}

static double find_open_ns(const struct pc_profile *p)
{
    struct pct_open_calls *calls = pct_open_calls_new(p);
    double ns = (double)calls->ns;
    pct_open_calls_free(calls);
    return ns;
}

/* Fills in what the report says, and kept_ns. */
static void describe_told(struct pct_run *run, const struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    struct pct_rank_times *t = pct_rank_times_new(m);
    struct pct_run_told *told = &run->told;
    struct pct_traffic sum = pct_traffic_sum(p);
    for (uint32_t i = 0; i < p->n_ranks; i++)
        told->mpi_ns += (double)pct_totals_mpi_ns(&p->ranks[i]) / p->n_ranks;
    told->wall_ns = run->whole_ns;
    told->balanced = t->n > 1 && t->mean_ns > 0 && t->divided && pct_rank_times_know_imbalance(t);
    told->computes = !strcmp(pct_rank_times_verb(t), "computes");
    told->mean_ns = t->mean_ns;
    told->busiest_ns = t->n ? t->list[t->busiest].own_ns : 0;
    told->imbalance = pct_rank_times_imbalance(t);
    told->messages = p->world_size > 1 ? (double)sum.messages : 0;
    told->bytes = p->world_size > 1 ? (double)sum.bytes : 0;
    run->kept_ns = run->keeps_delay ? t->all_delayed_ns : 0;
    run->kept_others_ns = run->keeps_delay ? find_others_ns(t) : 0;
    pct_rank_times_free(t);
}

static void describe_modules(struct pct_run *run, const struct pc_profile *p)
{
    run->n_modules = p->n_modules;
    run->modules = pct_alloc(p->n_modules, sizeof *run->modules);
    for (uint32_t i = 0; i < p->n_modules; i++) {
        const struct pc_profile_module *m = &p->modules[i];
        run->modules[i].name = pct_copy(pc_base_name(m->path));
        for (uint32_t k = 0; k < m->build_id_bytes; k++)
            run->modules[i].build = pc_hash_u64(run->modules[i].build << 8 ^ m->build_id[k] ^ k);
    }
}

/* True if the outermost contexts are those of several programs. */
static bool has_regions(const struct pc_profile *p)
{
    for (uint32_t i = 1; i < p->n_nodes; i++)
        if (p->nodes[i].kind == PCOLLECT_NODE_REGION)
            return true;
    return false;
}

static void describe_run(struct pct_run *run, const char *path, const struct pc_profile *p,
                         bool keeps_delay)
{
    const struct pc_profile_module *program = program_of(p);
    *run = (struct pct_run){.path = path,
                            .sampled = pct_samples_any(p),
                            .timed = pct_totals_has_times(p),
                            .keeps_delay = keeps_delay};
    run->program = pct_copy(p->exe);
    run->command = pct_copy(command_of(p));
    run->mpi = pct_copy(p->mpi ? p->mpi : "");
    run->job = pct_copy(p->job ? p->job : "");
    run->start_ns = p->n_ranks ? p->ranks[0].start_realtime_ns : 0;
    run->pid = p->n_ranks ? p->ranks[0].pid : 0;
    if (program)
        run->build = *program;
    run->build.path = NULL;
    run->n_ranks = p->world_size ? p->world_size : p->n_ranks;
    run->n_missing = run->n_ranks > p->n_ranks ? run->n_ranks - p->n_ranks : 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        const struct pc_profile_rank *r = &p->ranks[i];
        double run_ns = (double)pct_totals_run_ns(r);
        run->outside |= r->notes & PCOLLECT_NOTE_OUTSIDE;
        run->n_incomplete += r->incomplete != 0;
        double compute = (double)pct_totals_compute_ns(r);
        run->core_ns += run_ns;
        run->before_ns += r->inside_ns ? (double)r->before_init_ns / p->n_ranks : 0;
        run->whole_ns += (double)pct_totals_wall_ns(r) / p->n_ranks;
        run->compute_ns += compute;
        run->time_ns = fmax(run->time_ns, run_ns);
        run->busiest_ns = fmax(run->busiest_ns, compute);
    }
    run->by_program = run->outside && has_regions(p);
    run->paused_ns = (double)pct_totals_column(pc_profile_table(p, "resources"), "paused");
    run->open_ns = find_open_ns(p);
    describe_modules(run, p);
    struct pct_totals *m = pct_totals_new(p);
    run->init_ns = m->init_ns;
    describe_own(run, m);
    describe_told(run, m);
    pct_totals_free(m);
    add_early(run, p);
}

static void attach(struct pct_run *run, const struct pc_profile *profile,
                   struct pct_symbols *symbols)
{
    run->profile = profile;
    run->totals = pct_totals_new(profile);
    run->symbols = symbols;
    run->samples = pct_samples_new(profile);
}

void pct_run_adopt(struct pct_run *run, const char *path, const struct pc_profile *profile,
                   struct pct_symbols *symbols)
{
    describe_run(run, path, profile, false);
    attach(run, profile, symbols);
}

void pct_run_open(const struct pct_run *run, const struct pc_profile *profile,
                  struct pct_symbols *symbols, struct pct_run *open)
{
    *open = *run;
    open->program = open->command = open->mpi = open->job = NULL;
    open->modules = NULL;
    open->n_modules = 0;
    attach(open, profile, symbols);
}

int pct_run_refuse(const char *path, int err, struct pc_error *error)
{
    return *error->text ? err : pc_error_set(error, err, "%s: %s", path, pc_err_text(err));
}

int pct_run_look(struct pct_run *run, const char *path, struct pc_error *error)
{
    struct pc_profile *profile = NULL;
    int err = pc_pcol_read_columns(path, &profile, error);
    if (err)
        return pct_run_refuse(path, err, error);
    describe_run(run, path, profile, false);
    pc_profile_free(profile);
    return PC_OK;
}

static void free_texts(struct pct_run *run)
{
    for (size_t i = 0; i < run->n_modules; i++)
        pct_free(run->modules[i].name);
    pct_free(run->modules);
    pct_free(run->program);
    pct_free(run->command);
    pct_free(run->mpi);
    pct_free(run->job);
}

static void keep_delay(struct pct_run *run, const struct pc_profile *profile)
{
    struct pct_run kept;
    describe_run(&kept, run->path, profile, true);
    kept.profile = run->profile;
    kept.totals = run->totals;
    kept.symbols = run->symbols;
    kept.samples = run->samples;
    free_texts(run);
    *run = kept;
}

int pct_runs_agree(struct pct_run *runs, size_t n, struct pc_error *error)
{
    bool keep = false, leave_out = false;
    for (size_t i = 0; i < n; i++) {
        keep |= runs[i].undivided;
        leave_out |= !runs[i].undivided;
    }
    for (size_t i = 0; i < n && keep && leave_out; i++) {
        struct pc_profile *profile = NULL;
        if (runs[i].profile) {
            keep_delay(&runs[i], runs[i].profile);
            continue;
        }
        int err = pc_pcol_read_columns(runs[i].path, &profile, error);
        if (err)
            return pct_run_refuse(runs[i].path, err, error);
        keep_delay(&runs[i], profile);
        pc_profile_free(profile);
    }
    return PC_OK;
}

void pct_run_close(struct pct_run *run)
{
    pct_samples_free(run->samples);
    pct_symbols_free(run->symbols);
    pct_totals_free(run->totals);
    free_texts(run);
    *run = (struct pct_run){0};
}

bool pct_runs_are_one(const struct pct_run *a, const struct pct_run *b)
{
    return !strcmp(a->path, b->path) || (!strcmp(a->job, b->job) && a->start_ns &&
                                         a->start_ns == b->start_ns && a->pid == b->pid);
}

bool pct_runs_same_build(const struct pct_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct pc_profile_module *first = &runs[0].build, *other = &runs[i].build;
        if (!first->build_id_bytes || first->build_id_bytes != other->build_id_bytes ||
            memcmp(first->build_id, other->build_id, first->build_id_bytes) != 0)
            return false;
    }
    return true;
}

bool pct_runs_differ_in_mpi(const struct pct_run *runs, size_t n)
{
    const char *first = runs[0].mpi;
    size_t word = strcspn(first, " ");
    for (size_t i = 1; i < n; i++) {
        const char *other = runs[i].mpi;
        if (*first && *other && (strcspn(other, " ") != word || strncmp(first, other, word) != 0))
            return true;
    }
    return false;
}

bool pct_runs_differ_in_threads(const struct pct_run *runs, size_t n)
{
    bool differ = false;
    for (size_t i = 0; i < n; i++) {
        if (runs[i].n_ranks != runs[0].n_ranks || !runs[i].n_threads)
            return false;
        differ |= runs[i].n_threads != runs[0].n_threads;
    }
    return differ;
}

bool pct_runs_builds_known(const struct pct_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!runs[i].build.build_id_bytes)
            return false;
    return true;
}

bool pct_run_is_busy(double delayed_ns, double whole_ns)
{
    return delayed_ns > 0.2 * whole_ns;
}
