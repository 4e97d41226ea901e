/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about the system: processors that ranks share, memory and system calls, and the nodes of
 * the ranks.
 */
#include "analysis/findings/findings.h"
#include "analysis/student.h"
#include "analysis/traffic/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cost of a page fault, in ns: of a page of 4 KiB without a disk at most, on a virtual machine,
 * where 1.9 us were seen; and with a disk. How large pages are is not known. A page of 2 MiB that
 * is cleared at 4 GB/s takes 500 us. */
#define MINOR_MOST_NS 2500.0
#define LARGE_PAGE_NS 500000.0
#define MAJOR_NS 100000.0
/* A placement must save this part of the bytes between nodes to be worth a sentence. */
#define BETTER 0.2

/* ---- Processors that are shared -------------------------------------------------------------- */

enum { MOST_CPUS = 8192 };

static void mark_cpus(const char *list, bool *marks)
{
    for (unsigned long first, last; pct_processors_next(&list, &first, &last);)
        for (; first <= last && first < MOST_CPUS; first++)
            marks[first] = true;
}

static size_t count_marks(const bool *marks)
{
    size_t n = 0;
    for (size_t i = 0; i < MOST_CPUS; i++)
        n += marks[i];
    return n;
}

/* Counts the processors of a list; *common_out: those of them that are marked. */
static size_t count_cpus(const char *list, const bool *marks, size_t *common_out)
{
    size_t n = 0;
    *common_out = 0;
    for (unsigned long first, last; pct_processors_next(&list, &first, &last);)
        for (; first <= last && first < MOST_CPUS; first++, n++)
            *common_out += marks[first];
    return n;
}

/* Threads of a rank that need a processor: those with a tenth of the CPU time of the busiest. */
struct busy {
    size_t n; /* that compute at the same time, not in MPI; 0: none is known, else 1 at least */
    size_t n_program; /* whenever they compute; those of the MPI library are none */
    size_t n_all;     /* whatever they do, and whenever; those of the MPI library, too */
    bool renewed;     /* n is the least of what is known, and these two may be too many */
    bool known;       /* no other thread of the process needs one */
};

/* Part of a thread's CPU time outside MPI, where it does not poll for messages. */
static double part_outside(const struct pct_thread_time *t)
{
    if (!strcmp(t->kind, "MPI library") || !t->cpu_ns)
        return 0;
    return t->is_sampled && t->mpi_calls ? fmin(1, (double)t->outside_ns / (double)t->cpu_ns) : 1;
}

/* Counts the threads of a rank, from `first` on, that compute at the same time. The mean number of
 * threads that compute or could is known, and not which: threads that take turns are one, and all
 * are meant if the mean is more than half of the way to that and their number is known. */
static size_t count_at_once(const struct pct_evidence *f, size_t rank, size_t first)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    double most_ns = 0, sum_ns = 0,
           run_ns = (double)pct_totals_run_ns(&f->data->profile->ranks[rank]);
    size_t n = 0;
    bool renewed = false;
    for (size_t i = first; i < t->n && t->list[i].rank == rank; i++)
        most_ns = fmax(most_ns, (double)t->list[i].cpu_ns * part_outside(&t->list[i]));
    for (size_t i = first; i < t->n && t->list[i].rank == rank; i++) {
        double part = part_outside(&t->list[i]), cpu_ns = (double)t->list[i].cpu_ns * part;
        if (!(cpu_ns > 0) || cpu_ns < most_ns / 10)
            continue;
        sum_ns += cpu_ns + (double)t->list[i].delayed_ns * part;
        renewed |= pct_thread_is_renewed(&t->list[i]);
        n++;
    }
    double mean = run_ns > 0 ? sum_ns / run_ns : 0;
    return 2 * mean >= (double)n + 1 && !renewed ? n
                                                 : (size_t)fmax(1, fmin((double)n, floor(mean)));
}

/* Counts the busy threads of a rank. `at`: begins at 0 and is used again for later ranks. */
static struct busy count_busy_threads(const struct pct_evidence *f, size_t rank, size_t *at)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    const struct pct_rank_use *use = &f->use[rank];
    struct busy busy = {.known = true};
    uint64_t most = 0, all = 0;
    while (*at < t->n && t->list[*at].rank < rank)
        ++*at;
    for (size_t i = *at; i < t->n && t->list[i].rank == rank; i++) {
        most = t->list[i].cpu_ns > most ? t->list[i].cpu_ns : most;
        all += t->list[i].cpu_ns;
        busy.known &= t->list[i].has_cpu;
    }
    busy.n = most ? count_at_once(f, rank, *at) : 0;
    for (; *at < t->n && t->list[*at].rank == rank; ++*at) {
        bool is_busy = t->list[*at].cpu_ns && t->list[*at].cpu_ns >= most / 10;
        busy.n_all += is_busy;
        busy.n_program += is_busy && strcmp(t->list[*at].kind, "MPI library") != 0;
        busy.renewed |= is_busy && pct_thread_is_renewed(&t->list[*at]);
    }
    double others_ns = use->user_ns + use->system_ns - (double)all; /* that have no row */
    busy.known &= most && others_ns < (double)most / 10;
    return busy;
}

struct shared_host {
    const char *name;
    size_t n_ranks, n_threads; /* that compute at the same time */
    size_t n_program;          /* that compute, whenever */
    size_t n_all;              /* all busy ones */
    size_t n_cpus;             /* 0: not known of all ranks */
    bool renewed;              /* n_threads compute at least */
};

/* The ranks of one host, their busy threads, and the number of processors on which they may run. */
static struct shared_host look_at_host(const struct pct_evidence *f, const char *name)
{
    const struct pc_profile *p = f->data->profile;
    struct shared_host host = {.name = name};
    bool *marks = pct_alloc(MOST_CPUS, sizeof *marks), known = true;
    size_t at = 0;
    for (size_t r = 0; r < f->n_ranks; r++) {
        if (strcmp(p->ranks[r].host, name) != 0)
            continue;
        host.n_ranks++;
        struct busy busy = count_busy_threads(f, r, &at);
        host.n_threads += busy.n;
        host.n_program += busy.n_program;
        host.n_all += busy.n_all;
        host.renewed |= busy.renewed;
        mark_cpus(f->use[r].bound, marks);
        known &= *f->use[r].bound != '\0';
    }
    host.n_cpus = known ? count_marks(marks) : 0;
    pct_free(marks);
    return host;
}

/* The processors of a rank, and the ranks of its host that may run on them. */
struct neighbours {
    size_t n_cpus;
    size_t n_bound, n_threads; /* ranks with exactly these, and it; their busy threads */
    size_t n_all;              /* busy threads of all of them, those of the MPI library too */
    bool known;                /* processors and threads of all ranks of the host are known */
    bool renewed;              /* n_threads are the least */
};

static struct neighbours look_around(const struct pct_evidence *f, size_t rank)
{
    const struct pc_profile *p = f->data->profile;
    struct neighbours near = {.known = p->n_ranks == p->world_size};
    bool *marks = pct_alloc(MOST_CPUS, sizeof *marks);
    size_t at = 0;
    mark_cpus(f->use[rank].bound, marks);
    near.n_cpus = count_marks(marks);
    for (size_t r = 0; r < f->n_ranks; r++) {
        if (strcmp(p->ranks[r].host, p->ranks[rank].host) != 0)
            continue;
        struct busy busy = count_busy_threads(f, r, &at);
        size_t common, n = count_cpus(f->use[r].bound, marks, &common);
        near.known &= n && (busy.known || !common);
        near.n_all += common ? busy.n_all : 0;
        bool same = n && common == n && n == near.n_cpus;
        near.n_bound += same;
        near.n_threads += same ? busy.n : 0;
        near.renewed |= same && busy.renewed;
    }
    pct_free(marks);
    return near;
}

/* Sum of a column over the sockets of a host; 0: not known. */
static size_t count_on_host(const struct pct_evidence *f, const char *host, const char *column)
{
    const struct pc_profile *p = f->data->profile;
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "machine");
    uint32_t host_at = pc_table_column(t, "host", PCOLLECT_COLUMN_STRING),
             counted = pc_table_column(t, column, PCOLLECT_COLUMN_NUMBER);
    size_t n = 0;
    if (host_at == PC_NO_INDEX || counted == PC_NO_INDEX)
        return 0;
    for (uint32_t row = 0; row < t->n_rows; row++)
        if (!strcmp(pc_profile_string(p, pc_table_cell(t, row, host_at)), host))
            n += (size_t)pc_table_cell(t, row, counted);
    return n;
}

/* True if several ranks have more busy threads than their host has processors: what one of them
 * gains by more processors the others lose. */
static bool is_full(const struct shared_host *host, size_t processors)
{
    return processors && host->n_ranks > 1 && host->n_threads > processors;
}

/* Appends what helps a rank that has more threads than processors: what its host has room for.
 * n_threads: 0 if they may be more than is known. */
static void put_advice(const struct pct_evidence *f, const struct shared_host *host, size_t n_cpus,
                       size_t n_threads, struct pct_buf *b)
{
    size_t processors = count_on_host(f, host->name, "processors"),
           cores = count_on_host(f, host->name, "cores");
    pct_buf_text(b, ". Start it with fewer threads");
    if (!processors || (n_cpus < processors && !is_full(host, processors))) {
        pct_buf_text(b, ", or bind it to more processors");
        if (!strncmp(f->data->profile->mpi, "Open MPI", 8)) {
            pct_buf_text(b, ": mpirun ");
            if (n_threads && host->n_ranks * n_threads <= cores)
                pct_buf_format(b, "--map-by slot:PE=%zu, or ", n_threads);
            pct_buf_text(b, "--bind-to none");
        }
    }
    pct_buf_text(b, ".");
}

/* The other threads of the job are no reason to name if they ran for less than this part of the
 * wait, and not the only one below NOT_ALL. */
#define HARDLY 0.1
#define NOT_ALL 0.75

/* A thread that waited for a processor. */
struct waiter {
    size_t rank;
    bool is_main;
    double part; /* of its wait, at most, for which other threads of the job may be the reason */
};

/* True if the threads of a rank may take turns because they share its processors. They may take
 * turns for a lock as well, of which the wait of a main thread tells little and that of another one
 * nothing: where the main thread was blocked they must have used most of the processors. */
static bool may_share(const struct pct_evidence *f, const struct waiter *w, size_t n_cpus)
{
    const struct pct_rank_use *use = &f->use[w->rank];
    double all_ns = use->user_ns + use->system_ns,
           run_ns = (double)pct_totals_run_ns(&f->data->profile->ranks[w->rank]);
    if (!w->is_main)
        return all_ns >= NOT_ALL * (double)n_cpus * run_ns;
    return all_ns - use->on_cpu_ns >=
           HARDLY * pct_rank_time_main_delayed_ns(&f->times->list[w->rank]);
}

/* Appends that the threads of a rank share its processors though they do not all compute at the
 * same time. False if they do not share them, or need not, or if their number is not known. */
static bool put_sharing(const struct pct_evidence *f, const struct waiter *w, size_t n_cpus,
                        const struct busy *busy, const struct shared_host *host, struct pct_buf *b)
{
    struct shared_host all = *host;
    const size_t n_program = busy->n_program;
    if (!n_cpus || n_program <= n_cpus || busy->renewed || !may_share(f, w, n_cpus))
        return false;
    pct_buf_format(b, ", whose %zu busy threads share %zu %s", n_program, n_cpus,
                   n_cpus == 1 ? "processor" : "processors");
    all.n_threads = host->n_program;
    put_advice(f, &all, n_cpus, n_program, b);
    return true;
}

/* "3", or "at least 3" where no more is known. */
static const char *number_text(const struct pct_evidence *f, size_t n, bool least)
{
    char text[48];
    pct_text_format(text, sizeof text, "%s%s", least ? "at least " : "",
                    pct_finding_number(f, (double)n));
    return pct_pool_intern(f->pool, text);
}

/* Appends the reason for a wait that is in the job: the threads of the rank, or those of other
 * ranks; or else on how many processors it may run. */
static void put_own_reason(const struct pct_evidence *f, const struct waiter *w,
                           const struct neighbours *near, const struct shared_host *host,
                           struct pct_buf *b)
{
    size_t at = 0;
    struct busy busy = count_busy_threads(f, w->rank, &at);
    const char *processors = near->n_cpus == 1 ? "processor" : "processors";
    char others[48] = "another rank does";
    if (near->n_bound > 2)
        pct_text_format(others, sizeof others, "%s other ranks do",
                        pct_finding_number(f, (double)(near->n_bound - 1)));
    bool full = host->n_cpus && is_full(host, count_on_host(f, host->name, "processors"));
    if (near->n_cpus && busy.n > near->n_cpus && !full) {
        pct_buf_format(b, ", which computes with %s threads on %zu %s",
                       number_text(f, busy.n, busy.renewed), near->n_cpus, processors);
        put_advice(f, host, near->n_cpus, busy.renewed ? 0 : busy.n, b);
    } else if (host->n_cpus && host->n_threads > host->n_cpus) {
        pct_buf_format(b,
                       ": the %s ranks there compute with %s threads on %zu %s. Start "
                       "fewer ranks or threads there.",
                       pct_finding_number(f, (double)host->n_ranks),
                       number_text(f, host->n_threads, host->renewed), host->n_cpus,
                       host->n_cpus == 1 ? "processor" : "processors");
    } else if (near->n_cpus && near->n_threads > near->n_cpus) {
        pct_buf_format(b,
                       ", which computes on %zu %s, as %s: they have %s threads "
                       "together. Bind them to different processors.",
                       near->n_cpus, processors, others,
                       number_text(f, near->n_threads, near->renewed));
    } else if (!put_sharing(f, w, near->n_cpus, &busy, host, b)) {
        pct_buf_text(b, ".");
        if (near->n_cpus)
            pct_buf_format(b, " It may run on %zu %s.", near->n_cpus, processors);
    }
}

/* The part of the wait of a rank's thread, with this CPU time, for which other threads of the job
 * ran that may use its processors: of so much they may be the reason, at most. While it waits,
 * there is one in its place, at least. 1: not known. */
static double find_own_part(const struct pct_evidence *f, size_t rank, double waited_ns,
                            double cpu_ns)
{
    const struct pc_profile *p = f->data->profile;
    double ran_ns = -cpu_ns;
    bool *marks = pct_alloc(MOST_CPUS, sizeof *marks), known = p->n_ranks == p->world_size;
    mark_cpus(f->use[rank].bound, marks);
    for (size_t r = 0; r < f->n_ranks; r++) {
        if (strcmp(p->ranks[r].host, p->ranks[rank].host) != 0)
            continue;
        size_t common;
        known &= count_cpus(f->use[r].bound, marks, &common) > 0;
        ran_ns += common ? f->use[r].user_ns + f->use[r].system_ns : 0;
    }
    pct_free(marks);
    return known && waited_ns > 0 ? fmax(0, ran_ns) / waited_ns : 1;
}

/* Appends that what ran besides the threads of the job may be those of a job that has a profile of
 * its own. */
static void put_other_jobs(const struct pct_evidence *f, struct pct_buf *b)
{
    const char *others = pct_finding_other_jobs(f);
    if (others)
        pct_buf_format(b, " What else ran there may be %s.", others);
}

/* Appends the reason why a thread waited on a host that has a processor for each rank. If all
 * threads of the job that may run on its processors fit there, or ran for less than it waited,
 * others ran there. A thread other than the main one may have waited for a lock of those beside it,
 * and they may be bound to one of these processors: they are no reason below NOT_ALL, and need
 * not fit above. */
static void put_reason(const struct pct_evidence *f, const struct waiter *w,
                       const struct shared_host *host, struct pct_buf *b)
{
    struct neighbours near = look_around(f, w->rank);
    bool fit = near.known && near.n_all <= near.n_cpus;
    if (fit && (w->is_main || w->part < NOT_ALL)) {
        pct_buf_text(b, ": something else ran there, or its CPU time is limited.");
        put_other_jobs(f, b);
    } else if (w->part < (w->is_main ? HARDLY : NOT_ALL)) {
        pct_buf_format(b,
                       ": something else ran there, or its CPU time is limited. Other threads of "
                       "the job ran there for at most %.0f %% of this time.",
                       ceil(100 * w->part));
        put_other_jobs(f, b);
    } else {
        put_own_reason(f, w, &near, host, b);
        if (w->part >= NOT_ALL)
            return;
        pct_buf_format(b,
                       " Other threads of the job ran there for at most %.0f %% of this time: "
                       "something else did, too, or its CPU time is limited.",
                       ceil(100 * w->part));
        put_other_jobs(f, b);
    }
}

/* Appends that others had a part of the processors, if so, and what to do. While a rank waits, all
 * processors on which it may run are in use. So if the ranks used less, clearly, others had the
 * rest. Delays of several threads may be at one time. */
static void put_others(const struct pct_evidence *f, size_t rank, const struct shared_host *host,
                       struct pct_buf *b)
{
    const struct pc_profile *p = f->data->profile;
    struct neighbours near = look_around(f, rank);
    double used_ns = 0;
    for (size_t r = 0; r < f->n_ranks; r++)
        if (!strcmp(p->ranks[r].host, host->name))
            used_ns += f->use[r].user_ns + f->use[r].system_ns;
    double part = used_ns / ((double)host->n_cpus *
                             fmax(1, pct_rank_time_main_delayed_ns(&f->times->list[rank])));
    bool others =
        near.known && near.n_cpus == host->n_cpus && host->n_all == host->n_ranks && part < NOT_ALL;
    if (others)
        pct_buf_format(b,
                       " Meanwhile they had at most %.0f %% of the time of these processors: "
                       "something else ran there, too, or their CPU time is limited.",
                       100 * part);
    if (others)
        put_other_jobs(f, b);
    pct_buf_text(b, others
                        ? " Run where the processors are free, with a rank for each at most: the "
                          "other times of this run are distorted."
                        : " Run fewer ranks there: the other times of this run are distorted.");
}

/* Appends the time in which main threads were blocked while other threads of their ranks waited:
 * at most so long, because threads that wait at one time do not add up. */
static void put_threads(const struct pct_evidence *f, const struct pct_rule *rule, double ns,
                        struct pct_buf *b)
{
    if (ns >= rule->threshold * f->core_ns)
        pct_buf_format(b,
                       " For up to another %s main threads were blocked while other threads of "
                       "their ranks waited for a processor.",
                       pct_finding_share(f, ns));
}

/* Finds the thread that waited for a processor for longest, where the main threads hardly did: they
 * were blocked meanwhile. One that polls need not have had work while it waited. */
static void find_shared_by_threads(const struct pct_evidence *f, const struct pct_rule *rule,
                                   double threshold, struct pct_findings *out)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    const struct pct_thread_time *most = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (pct_thread_is_program(&t->list[i]) && t->list[i].n_threads < 2 &&
            strcmp(t->list[i].kind, "main") != 0 && !t->list[i].waits_ns && !t->list[i].mpi_calls &&
            (!most || t->list[i].delayed_ns > most->delayed_ns))
            most = &t->list[i];
    double ns = most ? fmin((double)most->delayed_ns, f->times->list[most->rank].delayed_ns) : 0;
    if (!(ns > 0) || !pct_finding_counts(f, rule, threshold, ns))
        return;
    struct shared_host host = look_at_host(f, f->data->profile->ranks[most->rank].host);
    struct waiter waiter = {.rank = most->rank};
    struct pct_buf text = {0};
    char time[PCT_NUMBER_BYTES];
    int32_t rank = pct_finding_rank(f, most->rank);
    waiter.part = find_own_part(f, most->rank, (double)most->delayed_ns, (double)most->cpu_ns);
    pct_buf_format(&text, "For %s no processor was free for thread %llu of rank %d of %s",
                   pct_text_time(time, (pc_u128)most->delayed_ns), (unsigned long long)most->number,
                   rank, host.name);
    put_reason(f, &waiter, &host, &text);
    pct_finding_add(out, f, rule, threshold, ns, pct_more_rank("thread_times", rank), "%s",
                    text.data);
    pct_buf_free(&text);
}

static void find_shared(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    size_t most = 0;
    char time[PCT_NUMBER_BYTES];
    const struct pct_rank_time *t = f->times->list;
    double ns = 0, all_ns = f->times->all_delayed_ns;
    for (size_t r = 0; r < f->n_ranks; r++) {
        most = pct_rank_time_main_delayed_ns(&t[r]) > pct_rank_time_main_delayed_ns(&t[most])
                   ? r
                   : most;
        ns += pct_rank_time_main_delayed_ns(&t[r]);
    }
    if (!(ns > 0) || !pct_finding_counts(f, rule, threshold, ns)) {
        find_shared_by_threads(f, rule, threshold, out);
        return;
    }
    /* less what may be a delay of a killed rank */
    double saves_ns = fmin(f->delayed_ns, all_ns) * ns / all_ns;
    struct shared_host host = look_at_host(f, f->data->profile->ranks[most].host);
    struct pct_buf text = {0};
    const char *share = pct_finding_share(f, ns);
    int32_t rank = pct_finding_rank(f, most);
    pct_text_time(time, (pc_u128)llround(pct_rank_time_main_delayed_ns(&t[most])));
    if (host.n_cpus && host.n_ranks > host.n_cpus) {
        pct_buf_format(&text,
                       "%s ranks share %zu %s on %s and waited for one for %s, most on rank %d "
                       "(%s).",
                       pct_finding_number(f, (double)host.n_ranks), host.n_cpus,
                       host.n_cpus == 1 ? "processor" : "processors", host.name, share, rank, time);
        put_others(f, most, &host, &text);
    } else {
        if (f->n_ranks == 1)
            pct_buf_format(&text, "For %s no processor was free for rank %d of %s (%s)", share,
                           rank, host.name, time);
        else
            pct_buf_format(&text,
                           "The ranks waited for a processor for %s, most on rank %d of %s (%s)",
                           share, rank, host.name, time);
        struct waiter waiter = {most, true, 1};
        waiter.part = find_own_part(f, most, t[most].main_delayed_ns, f->use[most].on_cpu_ns);
        put_reason(f, &waiter, &host, &text);
    }
    put_threads(f, rule, all_ns - ns, &text);
    pct_finding_add(out, f, rule, threshold, saves_ns, pct_more_rank("resources", rank), "%s",
                    text.data);
    pct_buf_free(&text);
}

/* ---- The kernel's work ----------------------------------------------------------------------- */

/* Time of a rank's page faults, at most. */
static double fault_ns(const struct pct_rank_use *u)
{
    return fmin(u->system_ns, u->minor_faults * MINOR_MOST_NS + u->major_faults * MAJOR_NS);
}

/* Time of page faults, at most the run of the rank: its threads have them concurrently, and also
 * before MPI_Init.
 */
static double run_faults_ns(const struct pct_evidence *f, size_t r)
{
    const struct pc_profile_rank *rank = &f->data->profile->ranks[r];
    return fmin(fault_ns(&f->use[r]), (double)pct_totals_run_ns(rank));
}

/* Says what helps, with a leading blank. Pages have 4 KiB or more: page faults that are not far
 * more than such pages of the most memory at a time may be first touches, which reuse of memory
 * does not save. With larger pages they need not be.
 */
static const char *cure_faults(const struct pct_evidence *f, double faults)
{
    enum { LEAST_PAGE = 4096, FAR = 2 };
    double memory = 0, most = 0;
    char bytes[PCT_NUMBER_BYTES];
    for (size_t r = 0; r < f->n_ranks; r++) {
        memory += f->use[r].memory;
        most = fmax(most, f->use[r].memory);
    }
    if (!(memory > 0) || faults * LEAST_PAGE > FAR * memory)
        return " Reuse memory instead of freeing and allocating it again, or use larger pages.";
    struct pct_buf b = {0};
    pct_buf_format(
        &b,
        " They may be first touches of memory, of which a rank has at most %s at a time: "
        "use larger pages, or less memory. If it is freed and allocated again, reuse it.",
        pct_text_bytes(bytes, pct_text_whole(most)));
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

static void find_faults(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    double ns = 0, faults = 0, major = 0;
    bool is_most = true; /* whatever a fault takes */
    char disk[64] = "";
    for (size_t r = 0; r < f->n_ranks; r++) {
        ns += run_faults_ns(f, r);
        faults += f->use[r].minor_faults + f->use[r].major_faults;
        major += f->use[r].major_faults;
        is_most &= fault_ns(&f->use[r]) >= f->use[r].system_ns;
    }
    if (!pct_finding_counts(f, rule, threshold, ns))
        return;
    if (major >= (double)f->n_ranks)
        pct_text_format(disk, sizeof disk, ", %s of them served from disk",
                        pct_finding_number(f, major / (double)f->n_ranks));
    pct_finding_add(out, f, rule, threshold, ns, pct_more_table("resources"),
                    "There are %s page faults per rank%s: at most %s%s%s.%s%s",
                    pct_finding_number(f, faults / (double)f->n_ranks), disk,
                    pct_finding_share(f, ns), is_most ? "" : " if each takes 2.5 us or less",
                    is_most || !*disk ? "" : ", from disk 100 us", pct_finding_page_faults(f),
                    cure_faults(f, faults));
}

/* Error of a rank's times in the kernel and in the program, in ns: most kernels divide the CPU time
 * by what they find at their ticks, of 10 ms at most. One more of each kind is added: those of a
 * short run may be all alike. */
static double ticks_error_ns(const struct pct_rank_use *u)
{
    const double tick_ns = 1e7;
    double system_ns = u->system_ns + tick_ns, user_ns = u->user_ns + tick_ns;
    return pct_normal_above(PCT_LEAD_FALSE) *
           sqrt(tick_ns * system_ns * user_ns / (system_ns + user_ns));
}

/* System time that cannot be due to MPI, the time before MPI_Init, or page faults. */
struct kernel_work {
    double ns, sure_ns; /* of all ranks, at least; and whatever a page fault takes */
    double longest_ns;
    size_t most; /* rank with longest_ns */
};

/* CPU time of a rank's threads outside MPI, from MPI_Init on, by samples. */
struct outside {
    double ns, longest_ns; /* of all threads, of the one that has most */
    double variance;
    size_t n_threads;
};

/* `at`: begins at 0 and is used again for later ranks. */
static struct outside cpu_outside(const struct pct_evidence *f, size_t rank, size_t *at)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    struct outside all = {.ns = 0};
    for (; *at < t->n && t->list[*at].rank <= rank; ++*at) {
        const struct pct_thread_time *thread = &t->list[*at];
        double ns = thread->work_ns + (double)thread->waits_ns;
        if (thread->rank != rank || !pct_thread_is_program(thread))
            continue;
        all.ns += ns;
        all.longest_ns = fmax(all.longest_ns, ns);
        all.variance += thread->variance;
        all.n_threads++;
    }
    return all;
}

/* System time of a rank at least, if all time in MPI and before MPI_Init was in the kernel. */
static double system_by_clock(const struct pct_evidence *f, size_t r)
{
    const struct pc_profile_rank *rank = &f->data->profile->ranks[r];
    return f->use[r].system_ns - (double)rank->mpi_ns - (double)rank->merge_ns -
           (rank->inside_ns ? (double)rank->before_init_ns : 0);
}

/* Adds up the ranks' system time outside MPI, less their page faults. By samples it is at least
 * their CPU time there less all their user time, wherever that was: a rank that waits in MPI for
 * long need not be in the kernel there. */
static struct kernel_work add_kernel_work(const struct pct_evidence *f, bool by_samples)
{
    struct kernel_work all = {.ns = 0};
    double variance = 0;
    size_t at = 0;
    for (size_t r = 0; r < f->n_ranks; r++) {
        struct outside cpu = cpu_outside(f, r, &at);
        double ns = by_samples ? cpu.ns - f->use[r].user_ns : system_by_clock(f, r);
        ns = fmin(ns, f->use[r].system_ns) - ticks_error_ns(&f->use[r]);
        ns = fmax(0, ns - fault_ns(&f->use[r]));
        ns = fmin(ns, f->compute_ns[r]);
        if (cpu.n_threads > 1) /* which may make system calls concurrently */
            ns = fmin(ns, cpu.longest_ns);
        variance += by_samples ? cpu.variance : 0;
        all.ns += ns;
        all.sure_ns += fmax(0, ns - f->use[r].minor_faults * LARGE_PAGE_NS);
        if (ns > all.longest_ns) {
            all.longest_ns = ns;
            all.most = r;
        }
    }
    double error_ns = pct_normal_above(PCT_LEAD_FALSE) * sqrt(variance);
    all.ns = fmax(0, all.ns - error_ns);
    all.sure_ns = fmax(0, all.sure_ns - error_ns);
    return all;
}

/* Finds system time outside MPI: the larger one of two lower bounds. */
static void find_system(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    struct kernel_work all = add_kernel_work(f, false), sampled = add_kernel_work(f, true);
    if (sampled.ns > all.ns)
        all = sampled;
    if (all.ns > 0 && pct_finding_counts(f, rule, threshold, all.ns))
        pct_finding_add(out, f, rule, threshold, all.ns,
                        pct_more_rank("resources", pct_finding_rank(f, all.most)),
                        "System calls%s take at least %s%s, most on rank %d.%s",
                        pct_finding_outside(f), pct_finding_share(f, all.ns),
                        all.sure_ns < fmin(all.ns, rule->threshold * f->core_ns)
                            ? " if each page fault takes 2.5 us or less"
                            : "",
                        pct_finding_rank(f, all.most), pct_finding_system_calls(f, all.ns));
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The point-to-point place that moves most bytes. */
static const struct pct_fact *main_exchange(const struct pct_evidence *f)
{
    const struct pct_fact *most = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (fact->op_class == PCOLLECT_CLASS_P2P && fact->is_message &&
            (!most ||
             fact->bytes_sent + fact->bytes_received > most->bytes_sent + most->bytes_received))
            most = fact;
    }
    return most;
}

static double message_ns(const struct pct_evidence *f)
{
    double ns = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (fact->is_message)
            ns += pct_fact_own_ns(fact);
    }
    return ns;
}

static void judge_placement(const struct pct_evidence *f, const struct pct_rule *rule,
                            double threshold, const struct pct_topology *t,
                            struct pct_findings *out)
{
    const struct pct_fact *most = main_exchange(f);
    uint32_t *node_of = pct_alloc(t->n_ranks, sizeof *node_of);
    struct pct_placement placement;
    struct pct_graph graph;
    char before[PCT_NUMBER_BYTES], after[PCT_NUMBER_BYTES];
    double all = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        node_of[r] = t->places[r].node;
    pct_graph_make(t, &graph);
    for (size_t i = 0; i < graph.n_edges; i++)
        all += (double)graph.edges[i].weight;
    pct_placement_find(&graph, node_of, t->n_nodes, &placement);
    double less = (double)placement.before - (double)placement.after;
    if (most && less > 0 && less >= BETTER * (double)placement.before)
        pct_finding_add(
            out, f, rule, threshold, message_ns(f) * less / all, pct_more_table("pairs"),
            "%s of the bytes in messages cross nodes; another placement of the ranks brings "
            "this to %s. Most are moved by %s. pcollect topology --rankfile writes such a "
            "placement.",
            pct_text_percent_1(before, (pc_u128)llround(1e5 * (double)placement.before / all)),
            pct_text_percent_1(after, (pc_u128)llround(1e5 * (double)placement.after / all)),
            most->place);
    pct_placement_free(&placement);
    pct_graph_free(&graph);
    pct_free(node_of);
}

static void find_placement(const struct pct_evidence *f, const struct pct_rule *rule,
                           double threshold, struct pct_findings *out)
{
    uint32_t n_pairs = pc_profile_rows(f->data->profile, "pairs");
    if (!n_pairs || n_pairs > PCT_MANY_PAIRS)
        return;
    struct pct_topology *t = pct_topology_new(f->data->profile, &(const struct pct_pair_filter){0});
    if (t && t->n_nodes > 1 && !t->n_distances && !t->n_missing)
        judge_placement(f, rule, threshold, t, out);
    pct_topology_free(t);
}

/* ---- The library that measures --------------------------------------------------------------- */

/* A place with this part of the calls has nearly all of them. */
#define NEARLY_ALL 0.99

/* Finds what the library itself takes in calls of MPI, by samples: with their error taken off, it
 * must reach the threshold of the run without waits for processors. */
static void find_recording(const struct pct_evidence *f, const struct pct_rule *rule,
                           double threshold, struct pct_findings *out)
{
    const struct pc_profile_table *t = pc_profile_table(f->data->profile, "sampling");
    double ns = 0, squares = 0, calls = 0;
    const struct pct_fact *most = NULL;
    for (size_t r = 0; r < f->n_ranks; r++) {
        const struct pct_rank_time *rank = &f->times->list[r];
        double error_ns = rank->library_most_ns - rank->library_ns;
        ns += rank->library_ns;
        squares += error_ns * error_ns;
    }
    double sure_ns = ns - sqrt(squares), seen_ns = (double)pct_totals_column(t, "seen");
    for (size_t i = 0; i < f->n; i++) {
        calls += f->list[i].calls;
        most = !most || f->list[i].calls > most->calls ? &f->list[i] : most;
    }
    if (!(calls > 0) || !(sure_ns > 0) || !(seen_ns > 0) ||
        sure_ns < threshold * (f->core_ns - f->times->all_delayed_ns))
        return;
    char share[32] = "nearly all";
    if (most->calls < NEARLY_ALL * calls)
        pct_text_format(share, sizeof share, "%.0f %%", 100 * most->calls / calls);
    pct_finding_say(out, f, rule, ns, pct_more_call(f, most),
                    "pcollect itself takes %s, %.0f %% of the CPU time, to record %s calls of MPI, "
                    "%s of them %s. No figure counts this as computation, but ranks may be slower "
                    "by it. Make fewer of these calls; those between MPI_Pcontrol(0) and "
                    "MPI_Pcontrol(1) are not recorded, and take less.",
                    pct_finding_share(f, ns),
                    100 * (double)pct_totals_column(t, "own_time") / seen_ns,
                    pct_finding_number(f, calls), share, most->place);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct pct_rule rows[] = {
    {"shared-processors", 0.05, "ranks that could run wait for a processor", find_shared, true},
    {"page-faults", 0.05, "memory allocated from the system again and again", find_faults, true},
    {"system-time", 0.05, "system calls outside MPI", find_system, true},
    {"placement", 0.05, "ranks that communicate much are on different nodes", find_placement,
     false},
    {"recording", 0.05, "pcollect itself takes long to record calls", find_recording, true},
};
const struct pct_rules pct_machine_rules = {rows, PC_ARRAY_LEN(rows)};
