/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of the text report: program, length and division of the time. summary_counted.c and
 * summary_missing.c have the rest.
 */
#include "analysis/symbols/symbols.h"
#include "analysis/traffic/traffic.h"
#include "view/sentence.h"
#include "view/summary_private.h"

#include <math.h>
#include <string.h>

/* Bytes of the arguments that are shown. */
enum { MOST_ARGUMENTS = 160 };

static pc_u128 mean(const struct pct_head *h, pc_u128 sum)
{
    uint32_t n = h->d->profile->n_ranks;
    return n ? (sum + n / 2) / n : 0;
}

/* True for samples from outside. */
static bool is_recording(const struct pct_head *h)
{
    return h->d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE;
}

/* ---- Program and hosts ----------------------------------------------------------------------- */

static void put_hosts(struct pct_buf *b, const struct pct_data *d)
{
    enum { SHOWN = 4 };
    const char **hosts;
    size_t n = pct_header_hosts(d, &hosts);
    size_t shown = n == SHOWN + 1 ? n : SHOWN;
    pct_buf_format(b, " on %zu %s: ", n, n == 1 ? "host" : "hosts");
    for (size_t i = 0; i < n && i < shown; i++) {
        pct_buf_text(b, i ? ", " : "");
        pct_text_escape(b, hosts[i], PCT_ESCAPE_CELL);
    }
    if (n > shown)
        pct_buf_format(b, " and %zu more", n - shown);
    pct_free(hosts);
}

static void put_started(const struct pct_head *h, struct pct_buf *b)
{
    pct_print_moment(b, h->d->totals->all.start_ns);
    if (b->n && *h->d->profile->job)
        pct_buf_text(b, ", ");
    if (*h->d->profile->job) {
        pct_buf_text(b, "job ");
        pct_text_escape(b, h->d->profile->job, PCT_ESCAPE_CELL);
    }
    if (b->n)
        pct_head_put(h, "started", b);
}

/* Appends which job has spawned this one. */
static void put_parent(const struct pc_profile *p, const struct pc_profile_table *t, uint32_t row,
                       struct pct_buf *b)
{
    uint32_t parent = pc_table_column(t, "parent", PCOLLECT_COLUMN_STRING);
    const char *name = pc_profile_string(p, pc_table_cell(t, row, parent));
    uint64_t rank_plus_1 =
        pc_table_cell(t, row, pc_table_column(t, "parent_rank", PCOLLECT_COLUMN_NUMBER));
    pct_buf_text(b, "spawned by ");
    if (rank_plus_1)
        pct_buf_format(b, "rank %llu of ", (unsigned long long)rank_plus_1 - 1);
    pct_buf_text(b, *name ? "job " : "another job");
    pct_text_escape(b, name, PCT_ESCAPE_CELL);
}

void pct_head_jobs(const struct pct_head *h, struct pct_buf *b)
{
    static const char parent[] = "MPI_Comm_get_parent", spawn[] = "MPI_Comm_spawn";
    const struct pc_profile *p = h->d->profile;
    const struct pc_profile_table *t = pc_profile_table(p, "jobs");
    uint32_t made_by = pc_table_column(t, "made_by", PCOLLECT_COLUMN_STRING),
             others = pc_table_column(t, "others", PCOLLECT_COLUMN_NUMBER);
    pc_u128 n_calls = 0, n_processes = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++) {
        const char *how = pc_profile_string(p, pc_table_cell(t, row, made_by));
        if (!strcmp(how, parent)) {
            put_parent(p, t, row, b);
        } else if (!strncmp(how, spawn, sizeof spawn - 1)) {
            n_calls++;
            n_processes += pc_table_cell(t, row, others);
        }
    }
    if (n_calls) {
        pct_buf_text(b, b->n ? "; spawned " : "spawned ");
        pct_buf_text(b, h->d->totals->all.lost[PCOLLECT_LOST_ROWS] ? "at least " : "");
        pct_head_count(b, n_processes);
        pct_buf_text(b, n_processes == 1 ? " process in " : " processes in ");
        pct_head_count(b, n_calls);
        pct_buf_text(b, n_calls == 1 ? " call" : " calls");
    }
    if (b->n)
        pct_buf_text(b, " (pcollect info looks for the profiles)");
}

/* The arguments in a command line, whose words are in quotes if a shell needs them: what comes
 * after the word that names the program, or after the first. */
static const char *arguments_of(const char *command, const char *exe)
{
    const char *name = pc_base_name(exe), *first = NULL, *found = NULL;
    struct pct_buf word = {0};
    for (const char *at = command; *at && !found; at += strspn(at, " ")) {
        pct_buf_clear(&word);
        at = pct_text_unquote(&word, at);
        first = first ? first : at;
        found = strcmp(pc_base_name(word.data), name) ? NULL : at;
    }
    pct_buf_free(&word);
    return found ? found : first ? first : command;
}

/* Appends words of a command line, as far as they fit. */
static void put_words(struct pct_buf *b, const char *all)
{
    size_t n = strlen(all), most = n;
    if (n > MOST_ARGUMENTS)
        for (most = MOST_ARGUMENTS; most && all[most] != ' '; most--)
            ;
    struct pct_buf shown = {0};
    pct_buf_put(&shown, all, most);
    pct_buf_text(&shown, most < n ? " ..." : "");
    pct_text_escape(b, shown.data, PCT_ESCAPE_CELL);
    pct_buf_free(&shown);
}

/* The command line in a row of their table; "": there is no such row. */
static const char *command_at(const struct pc_profile *p, uint32_t row)
{
    const struct pc_profile_table *t = pc_profile_table(p, "command_lines");
    uint32_t column = pc_table_column(t, "command", PCOLLECT_COLUMN_STRING);
    return t && row < t->n_rows ? pc_profile_string(p, pc_table_cell(t, row, column)) : "";
}

/* The arguments, if all ranks had the same. */
static void put_arguments(const struct pc_profile *p, struct pct_buf *b)
{
    const char *line = command_at(p, 0);
    if (*line && !*command_at(p, 1))
        put_words(b, arguments_of(line, p->exe));
}

/* Appends the command line of a row, and how many processes have it. */
static void put_command_of(const struct pc_profile *p, uint32_t row, struct pct_buf *b)
{
    const struct pc_profile_table *t = pc_profile_table(p, "command_lines");
    uint64_t n = pc_table_cell(t, row, pc_table_column(t, "processes", PCOLLECT_COLUMN_NUMBER));
    pct_buf_text(b, row ? "; " : "");
    put_words(b, command_at(p, row));
    pct_buf_text(b, " (");
    pct_head_count(b, n);
    pct_buf_text(b, n == 1 ? " process)" : " processes)");
}

/* True if a word follows the first in one of these command lines. */
static bool have_arguments(const struct pc_profile *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strchr(command_at(p, i), ' '))
            return true;
    return false;
}

bool pct_head_command(const struct pct_head *h, struct pct_buf *b)
{
    enum { MOST_COMMANDS = 3 };
    const struct pc_profile *p = h->d->profile;
    bool recording = is_recording(h);
    uint32_t n = pc_profile_rows(p, "command_lines");
    uint32_t shown = recording ? 1 : n < MOST_COMMANDS ? n : MOST_COMMANDS;
    if (!recording && (n < 2 || !have_arguments(p, n)))
        return false;
    if (recording)
        put_words(b, command_at(p, 0));
    for (uint32_t i = 0; !recording && i < shown; i++)
        put_command_of(p, i, b);
    if (n > shown)
        pct_buf_format(b, "; and %u other%s (pcollect info)", n - shown, n - shown > 1 ? "s" : "");
    return shown > 1;
}

static void put_programs(const struct pct_programs *programs, struct pct_buf *b)
{
    for (uint32_t i = 0; i < programs->n; i++) {
        const struct pct_program *of = &programs->list[i];
        pct_buf_text(b, i ? ", " : "");
        pct_text_escape(b, of->path, PCT_ESCAPE_CELL);
        if (!programs->known)
            continue;
        pct_buf_text(b, " (");
        pct_head_ranks(b, of->ranks, of->n_ranks);
        pct_buf_text(b, ")");
    }
}

bool pct_head_program(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    const struct pct_programs *programs = &h->d->totals->programs;
    if (programs->n > 1) {
        put_programs(programs, b);
    } else {
        pct_text_escape(b, *p->exe ? p->exe : "unknown", PCT_ESCAPE_CELL);
        if (!is_recording(h))
            put_arguments(p, b);
    }
    return programs->n > 1;
}

static void put_run(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    bool several = pct_head_program(h, b);
    pct_head_put(h, several ? "programs" : "program", b);
    several = pct_head_command(h, b);
    pct_head_put(h, several ? "commands" : "command", b);
    pct_head_count(b, p->n_ranks);
    if (h->d->totals->all.n_missing)
        pct_buf_format(b, " of %u", p->world_size);
    if (p->n_ranks)
        put_hosts(b, h->d);
    pct_head_put(h, "ranks", b);
    put_started(h, b);
    pct_head_jobs(h, b);
    pct_head_put(h, "other jobs", b);
    if (!*p->mpi && is_recording(h))
        return;
    const char *unknown = pct_data_calls_mpi(h->d)      ? "unknown"
                          : h->d->totals->all.mpi_calls ? "none: the program never calls MPI_Init"
                                                        : "none: the program calls no MPI function";
    pct_text_escape(b, *p->mpi ? p->mpi : unknown, PCT_ESCAPE_CELL);
    pct_head_put(h, "MPI", b);
}

/* ---- Division of the time -------------------------------------------------------------------- */

/* Time that is in none of the others. */
static void put_paused(const struct pct_head *h, struct pct_buf *b)
{
    if (!(h->d->totals->all.notes & PCOLLECT_NOTE_PAUSED))
        return;
    pc_u128 sum = pct_totals_column(pc_profile_table(h->d->profile, "resources"), "paused");
    if (!sum)
        return;
    pct_buf_text(b, ", without ");
    pct_head_time(b, mean(h, sum));
    pct_buf_text(b, " that MPI_Pcontrol left out");
}

/* The function that begins MPI: the one that the program calls, if it is not MPI_Init. */
static const char *first_function(const struct pc_profile *p)
{
    bool init = false, session = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        init |= pct_totals_is_init(&p->ops[i]);
        session |= !strcmp(p->ops[i].name, "MPI_Session_init");
    }
    return session && !init ? "MPI_Session_init" : "MPI_Init";
}

static void put_times(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    pct_head_time(b, mean(h, a->wall_ns));
    if (a->wall.n > 1) {
        pct_buf_text(b, " (");
        pct_head_time(b, a->wall.min);
        pct_buf_text(b, " .. ");
        pct_head_time(b, a->wall.max);
        pct_buf_text(b, ")");
    }
    if (pct_data_calls_mpi(h->d)) {
        pct_buf_text(b, ": ");
        pct_head_time(b, mean(h, a->before_ns));
        pct_buf_format(b, " before %s, ", first_function(h->d->whole));
        pct_head_time(b, mean(h, a->inside_ns));
        pct_buf_text(b, " inside");
        if (a->n_open + a->n_incomplete < h->d->profile->n_ranks) {
            pct_buf_text(b, ", ");
            pct_head_time(b, mean(h, a->after_ns));
            pct_buf_text(b, " after MPI_Finalize");
        }
    }
    put_paused(h, b);
    pct_head_put(h, "wall time", b);
}

static void put_share(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    if (!pct_data_calls_mpi(h->d))
        return;
    pct_buf_text(b, pct_style(h->o, PCT_STYLE_TITLE));
    pct_head_percent(b, pct_text_share(a->mpi_ns, a->wall_ns));
    pct_buf_format(b, "%s of wall time", pct_style(h->o, PCT_STYLE_PLAIN));
    if (a->share.n > 1) {
        pct_buf_text(b, " (");
        pct_head_percent(b, a->share.min);
        pct_buf_format(b, " on rank %d .. ", a->share.min_rank);
        pct_head_percent(b, a->share.max);
        pct_buf_format(b, " on rank %d)", a->share.max_rank);
    }
    pct_buf_text(b, ", ");
    pct_head_time(b, mean(h, a->mpi_ns));
    pct_buf_text(b, a->mpi.n > 1 ? " per rank, " : ", ");
    if (a->most_callers > 1) {
        pct_buf_format(b, "in the main thread; all threads of a rank, up to %u: ", a->most_callers);
        pct_head_time(b, mean(h, a->threads_mpi_ns));
        pct_buf_text(b, ", ");
    }
    pct_head_count(b, a->mpi_calls);
    pct_buf_text(b, a->mpi_calls == 1 ? " call" : " calls");
    if (h->d->totals->calls_inside && h->d->whole == h->d->profile) {
        pct_buf_text(b, " (and ");
        pct_head_count(b, h->d->totals->calls_inside);
        pct_buf_text(b, " inside of them)");
    }
    pct_head_put(h, "in MPI", b);
}

/* Time of main threads in MPI_Init and MPI_Finalize that had not ended. */
static double open_start_ns(const struct pc_profile *p)
{
    struct pct_open_calls *open = pct_open_calls_new(p);
    double ns = 0;
    for (size_t i = 0; i < open->n; i++) {
        uint32_t op = p->nodes[open->list[i].node].op;
        if (!open->list[i].thread && op < p->n_ops &&
            (pct_totals_is_init(&p->ops[op]) || pct_totals_is_end(&p->ops[op])))
            ns += (double)open->list[i].ns;
    }
    pct_open_calls_free(open);
    return ns;
}

/* Prints the time without MPI_Init and MPI_Finalize of the whole run. They do not depend on its
 * length, and dominate short runs. */
static void put_start(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    const struct pc_profile *p = h->d->whole;
    struct pct_totals *whole = p == h->d->profile ? NULL : pct_totals_new(p);
    const struct pct_totals *m = whole ? whole : h->d->totals;
    pc_u128 ns = (pc_u128)(m->init_ns + m->end.all_ns + open_start_ns(p));
    pct_totals_free(whole);
    if (!ns || ns * 20 < a->threads_mpi_ns || ns > a->mpi_ns)
        return;
    pct_buf_text(b, "without MPI_Init and MPI_Finalize ");
    pct_head_percent(b, pct_text_share(a->mpi_ns - ns, a->wall_ns));
    pct_buf_text(b, ", ");
    pct_head_time(b, mean(h, a->mpi_ns - ns));
    pct_buf_text(b, p->n_ranks > 1 ? " per rank" : "");
    pct_head_put(h, "", b);
}

/* Appends a part of the messages, if there are any. */
static void put_of_which(struct pct_buf *b, pc_u128 n, pc_u128 n_bytes, const char *what)
{
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES];
    if (n)
        pct_buf_format(b, ", of which %s, %s %s", pct_text_count(messages, n),
                       pct_text_bytes(bytes, n_bytes), what);
}

/* Pattern of messages of the whole run, in a line. The pattern is left out if some messages are not
 * known by pair. */
static void put_messages(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->whole;
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES];
    struct pct_traffic sum = pct_traffic_sum(p);
    if (p->world_size < 2 || !sum.messages)
        return;
    pct_buf_format(b, "%s, %s", pct_text_count(messages, sum.messages),
                   pct_text_bytes(bytes, sum.bytes));
    put_of_which(b, sum.own_messages, sum.own_bytes, "from ranks to themselves");
    put_of_which(b, sum.far_messages, sum.far_bytes, "to another job");
    if (sum.by_pair && pc_profile_rows(p, "pairs") > PCT_MANY_PAIRS) {
        pct_buf_text(b, "; pattern: see pcollect topology");
    } else if (sum.by_pair) {
        struct pct_topology *t = pct_topology_new(p, &(const struct pct_pair_filter){0});
        pct_buf_text(b, "; pattern: ");
        pct_topology_pattern(t, b);
        pct_topology_free(t);
    }
    pct_head_put(h, "messages", b);
}

static void put_ns(struct pct_buf *b, double ns)
{
    pct_head_time(b, (pc_u128)llround(ns));
}

#define LITTLE PCT_DIVISION_LITTLE

/* Appends the mean over ranks, unless it is small. */
static void put_part(struct pct_buf *b, double ns, double wall_ns, size_t n, const char *what)
{
    if (ns <= LITTLE * wall_ns)
        return;
    pct_buf_text(b, b->data[b->n - 1] == ' ' ? "" : ", ");
    put_ns(b, ns / (double)n);
    pct_buf_format(b, " %s", what);
}

/* Appends the parts if it is not known which time was blocked, as of killed ranks: samples tell
 * what was on a processor. */
static void put_sampled(const struct pct_rank_times *t, double wall, double library,
                        double bindings, struct pct_buf *b)
{
    double unknown = pct_rank_times_unknown_ns(t);
    if (unknown >= (1 - LITTLE) * wall) {
        pct_buf_text(b, "not known if computing");
        return;
    }
    put_part(b, t->mean_ns * (double)t->n - unknown, wall, t->n, "computing");
    put_part(b, t->for_mpi_ns, wall, t->n, "waiting for threads that are in MPI");
    put_part(b, bindings, wall, t->n, "in the MPI library beside its calls");
    put_part(b, library, wall, t->n, "in pcollect");
    put_part(b, unknown, wall, t->n, "not known if computing");
    put_part(b, t->delayed_ns, wall, t->n, "waiting for a processor");
}

const char *pct_head_for_threads(const struct pct_data *d)
{
    return pct_data_rank_times(d)->for_threads_ns > 0 && pct_data_runtime_works(d)
               ? "in a runtime library, where threads wait for others or it works"
               : "waiting for threads in a runtime library";
}

void pct_head_division(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_rank_times *t = pct_data_rank_times(h->d);
    enum pct_division division = pct_rank_times_division(t);
    const char *from = pct_totals_begins_late(&h->d->totals->all) ? " after MPI_Init" : "";
    double n = (double)t->n, wall = 0, cpu = -t->either_ns, library = 0, waits = t->for_threads_ns;
    double bindings = 0;
    double off = t->blocked_ns + t->either_ns;
    for (size_t r = 0; r < t->n; r++) {
        wall += t->list[r].wall_ns + t->list[r].for_mpi_ns;
        cpu += t->list[r].cpu_ns;
        library += t->list[r].library_ns;
        bindings += t->list[r].bindings_ns;
    }
    if (division == PCT_DIVISION_WHOLE || !h->d->totals->all.inside_ns)
        return;
    put_ns(b, wall / n);
    pct_buf_format(b, "%s%s: ", t->n > 1 ? " per rank" : "", from);
    if (division == PCT_DIVISION_GUESSED) {
        pct_buf_format(b,
                       "too short for samples, so it is not known how much of it is %swaiting for "
                       "a processor",
                       off > LITTLE * wall ? "blocked or " : "");
        put_part(b, t->blocked_ns, wall, t->n, "or more of it blocked");
        return;
    }
    if (!t->divided) {
        put_sampled(t, wall, library, bindings, b);
        return;
    }
    bool turns = pct_rank_times_take_turns(t);
    put_ns(b, (cpu - library - bindings - waits) / n);
    pct_buf_text(b, turns ? " or more computing" : " computing");
    put_part(b, waits, wall, t->n, pct_head_for_threads(h->d));
    put_part(b, t->for_mpi_ns, wall, t->n, "waiting for threads that are in MPI");
    put_part(b, bindings, wall, t->n, "in the MPI library beside its calls");
    put_part(b, library, wall, t->n, "in pcollect");
    if (division == PCT_DIVISION_UNSURE) {
        put_part(b, off + t->delayed_ns, wall, t->n,
                 turns ? "blocked (asleep, files, locks), waiting for a processor or computing by "
                         "turns of threads"
                       : "blocked (asleep, files, locks) or waiting for a processor");
        put_part(b, t->blocked_ns, wall, t->n, "or more of it blocked");
        put_part(b, t->delayed_ns - t->unsure_ns, wall, t->n, "or more of it waiting");
    } else {
        put_part(b, off, wall, t->n,
                 turns ? "blocked (asleep, files, locks) or computing by turns of threads"
                       : "blocked (asleep, files, locks)");
        if (turns)
            put_part(b, t->blocked_ns, wall, t->n, "or more of it blocked");
        put_part(b, t->delayed_ns, wall, t->n, "waiting for a processor");
    }
}

/* Time of the main thread of the only rank without a processor, which the table of threads does not
 * have of threads that computed little. */
static double delayed_of(const struct pc_profile *p, const struct pct_thread_time *own,
                         double wall_ns)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "resources");
    uint32_t column = pc_table_column(t, "delayed", PCOLLECT_COLUMN_NUMBER);
    bool known = p->n_ranks == 1 && column != PC_NO_INDEX && t->n_rows == 1;
    double ns = fmax((double)own->delayed_ns, known ? (double)pc_table_cell(t, 0, column) : 0);
    return fmin(ns, fmax(0, wall_ns - (double)own->cpu_ns));
}

bool pct_head_alone(const struct pct_head *h, struct pct_alone *out)
{
    const struct pct_thread_times *t = pct_data_thread_times(h->d);
    double wall = (double)h->d->totals->all.wall_ns;
    if (pct_data_calls_mpi(h->d) || h->d->profile->n_ranks != 1)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        const struct pct_thread_time *own = &t->list[i];
        if (strcmp(own->kind, "main") != 0 || !own->has_cpu)
            continue;
        double cpu = fmin((double)own->cpu_ns, wall),
               delayed = delayed_of(h->d->profile, own, wall);
        *out = (struct pct_alone){cpu, wall - cpu - delayed, delayed};
        return true;
    }
    return false;
}

void pct_head_main_thread(const struct pct_head *h, struct pct_buf *b)
{
    double wall = (double)h->d->totals->all.wall_ns;
    struct pct_alone a;
    if (!pct_head_alone(h, &a) || a.computing_ns > wall * (1 - LITTLE))
        return;
    put_ns(b, a.computing_ns);
    pct_buf_text(b, " computing");
    put_part(b, a.blocked_ns, wall, 1, "blocked (asleep, files, locks)");
    put_part(b, a.delayed_ns, wall, 1, "waiting for a processor");
}

/* Prints the part of the threads' CPU time in which they wait for each other, or the runtime works.
 * Tables of functions count it as computing. */
static void put_waits(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_thread_times *t = pct_data_thread_times(h->d);
    const struct pct_thread_time *last = NULL;
    pc_u128 outside_ns = 0, waits_ns = 0;
    bool several = false; /* some rank has two threads of the program */
    for (size_t i = 0; i < t->n; i++) {
        if (!pct_thread_is_program(&t->list[i]))
            continue;
        several |= last && last->rank == t->list[i].rank;
        last = &t->list[i];
        outside_ns += last->outside_ns;
        waits_ns += last->waits_ns;
    }
    if (!several || (double)waits_ns <= LITTLE * (double)outside_ns)
        return;
    pct_buf_text(b, "for ");
    pct_head_percent(b, pct_text_share(waits_ns, outside_ns));
    pct_buf_format(b, " of their CPU time outside MPI they %s (--by thread)",
                   pct_data_runtime_works(h->d)
                       ? "are in a runtime library: they wait for each other, or it works"
                       : "wait for each other, in a runtime library");
    pct_head_put(h, "threads", b);
}

/* Appends a time that may be longer by unsure_ns, if that is worth a word. */
static void put_bounds(struct pct_buf *b, double ns, double unsure_ns)
{
    put_ns(b, ns);
    if (unsure_ns <= LITTLE * ns)
        return;
    pct_buf_text(b, " .. ");
    put_ns(b, ns + unsure_ns);
}

/* Appends the imbalance, or its bounds if much of the delays may be blocked time. */
static void put_imbalance(const struct pct_head *h, const struct pct_rank_times *t,
                          struct pct_buf *b)
{
    struct pct_imbalance bounds = pct_rank_times_bound_imbalance(t);
    pct_buf_text(b, pct_style(h->o, PCT_STYLE_TITLE));
    if (pct_rank_times_know_imbalance(t)) {
        pct_head_percent(b, pct_header_imbalance(h->d));
    } else {
        pct_head_percent(b, (pc_u128)llround(1e5 * bounds.least));
        pct_buf_text(b, " .. ");
        pct_head_percent(b, (pc_u128)llround(1e5 * bounds.most));
    }
    pct_buf_text(b, pct_style(h->o, PCT_STYLE_PLAIN));
}

/* True if the ranks are hardly outside MPI, or if one did not come so far: it was killed before. */
static bool is_of_init(const struct pct_head *h, const struct pct_rank_times *t)
{
    const struct pc_profile *p = h->d->profile;
    double run_ns = 0;
    bool early = false;
    for (size_t r = 0; r < t->n; r++) {
        run_ns += (double)pct_totals_run_ns(&p->ranks[r]);
        early |= p->ranks[r].incomplete && !(t->list[r].wall_ns > 0);
    }
    return early || t->list[t->busiest].own_ns < PCT_DIVISION_LITTLE * run_ns / (double)t->n;
}

void pct_head_imbalance(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_rank_times *t = pct_data_rank_times(h->d);
    const struct pc_profile_rank *ranks = h->d->profile->ranks;
    size_t least = pct_rank_times_least(t);
    if (t->n < 2 || !(t->mean_ns > 0) || !pct_rank_times_know_busiest(t) || t->guessed ||
        is_of_init(h, t))
        return;
    bool known = pct_rank_times_know_imbalance(t);
    const char *verb = pct_rank_times_verb(t);
    const struct pct_rank_time *busiest = &t->list[t->busiest];
    put_imbalance(h, t, b);
    pct_buf_format(b, ": rank %d %s%s ", ranks[t->busiest].rank, verb,
                   strchr(verb, ' ') ? " for" : "");
    put_bounds(b, busiest->own_ns, known ? 0 : busiest->unsure_ns);
    pct_buf_text(b, ", the mean rank ");
    put_bounds(b, t->mean_ns, known ? 0 : t->unsure_ns / (double)t->n);
    if (known && least < t->n) {
        pct_buf_format(b, ", rank %d ", ranks[least].rank);
        put_ns(b, t->list[least].own_ns);
    }
    struct pct_lead lead = pct_rank_times_lead(t);
    if (!lead.real || !(lead.low_ns > 0))
        pct_buf_text(b, "; within noise");
}

static void put_cost(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    if (!a->merge_ns)
        return;
    pct_head_time(b, mean(h, a->merge_ns));
    pct_buf_text(b, pct_data_calls_mpi(h->d) ? " per rank to merge the profile in MPI_Finalize"
                                             : " to write the profile at the end");
    if (a->merge.n > 1) {
        pct_buf_text(b, ", at most ");
        pct_head_time(b, a->merge.max);
        pct_buf_format(b, " on rank %d", a->merge.max_rank);
    }
    pct_head_put(h, "pcollect", b);
}

/* Prints the CPU time of other processes that the ranks started, if it is much beside their own. */
static void put_children(const struct pct_head *h, struct pct_buf *b)
{
    enum { LEAST_NS = 100000000, PART = 10 };
    const struct pc_profile_table *t = pc_profile_table(h->d->profile, "resources");
    pc_u128 ns = pct_totals_column(t, "children"),
            own_ns = pct_totals_column(t, "user") + pct_totals_column(t, "system");
    if (ns < LEAST_NS || ns * PART <= own_ns)
        return;
    pct_head_time(b, mean(h, ns));
    pct_buf_format(b, "%s of CPU time in processes that were started and waited for%s, beside ",
                   h->d->profile->n_ranks > 1 ? " per rank" : "",
                   pct_data_calls_mpi(h->d) ? " after MPI_Init" : "");
    pct_head_time(b, mean(h, own_ns));
    pct_buf_text(b, " of its own: this profile has none of them; pcollect record samples a command "
                    "with all that it starts");
    pct_head_put(h, "children", b);
}

void pct_print_head(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    const struct pct_head h = {out, d, o};
    struct pct_buf b = {0};
    pct_text_escape(&b, d->file, PCT_ESCAPE_CELL);
    fprintf(out, "%spcollect report%s %s\n", pct_style(o, PCT_STYLE_TITLE),
            pct_style(o, PCT_STYLE_PLAIN), b.data);
    pct_findings_print(out, d->findings, d->file, o->width);
    fputc('\n', out);
    pct_buf_clear(&b);
    put_run(&h, &b);
    put_times(&h, &b);
    pct_head_main_thread(&h, &b);
    pct_head_put(&h, pct_data_thread_times(d)->n > 1 ? "main thread" : "", &b);
    put_share(&h, &b);
    put_start(&h, &b);
    put_messages(&h, &b);
    pct_head_division(&h, &b);
    pct_head_put(&h, "outside MPI", &b);
    put_waits(&h, &b);
    pct_head_imbalance(&h, &b);
    pct_head_put(&h, "imbalance", &b);
    put_children(&h, &b);
    put_cost(&h, &b);
    pct_head_counted(&h, &b);
    pct_head_missing(&h, &b);
    pct_buf_free(&b);
}
