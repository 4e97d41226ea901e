/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/where_calls.h"
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "include/pcollect/plugin.h"
#include "libcollect/state/ops.h"
#include "view/rows.h"
#include "view/sentence.h"

#include <string.h>
#include <time.h>

/* ---- Gathering ------------------------------------------------------------------------------ */

/* Measures the scale of ticks. A short time is enough, because the counter is invariant and the
 * calls take seconds. */
static uint64_t find_scale(void)
{
    uint64_t ticks[2], ns[2];
    pc_clock_pair(&ticks[0], &ns[0]);
    pc_nap_ns(20000000);
    pc_clock_pair(&ticks[1], &ns[1]);
    return pc_clock_scale(ticks[0], ns[0], ticks[1], ns[1]);
}

/* Adds a stack to rank number k. Another thread's call counts if the main thread, which comes
 * first, is outside MPI. */
static void add_stack(struct pct_where_calls *c, size_t k, const struct pct_watched_stack *s)
{
    struct pct_waiting *r = &c->ranks[k];
    if (c->stacks[k]) {
        if (!s->program)
            return;
        r->several = true;
        if (*r->op || !*s->op)
            return;
    }
    c->stacks[k] = s;
    c->states[k] = s->state;
    r->op = s->op;
    r->call = &s->call;
    r->may_act = s->state == 'T' || s->state == 't';
}

/* Gathers the calls. Stacks of a process are adjacent. A process of which no stack could be read
 * is there nevertheless, unless it has ended. */
static void gather(struct pct_where_calls *c, const struct pct_watch *w,
                   const struct pct_where_time *time)
{
    static const struct pct_mpi_call unknown = {.known = false};
    uint64_t scale = find_scale();
    size_t at = time->first;
    for (uint32_t p = 0; p < w->job->n; p++) {
        const struct pct_watched *who = &w->job->processes[p];
        bool made = !c->n || c->ranks[c->n - 1].rank != who->rank;
        if (made)
            c->ranks[c->n++] = (struct pct_waiting){.rank = who->rank, .op = "", .call = &unknown};
        for (; at < w->n_stacks && w->stacks[at].process == p; at++)
            add_stack(c, c->n - 1, &w->stacks[at]);
        if (made && !c->stacks[c->n - 1] && who->ended)
            c->n--;
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct pct_mpi_call *call = c->ranks[i].call;
        if (c->stacks[i] && c->stacks[i]->call_ns)
            c->ranks[i].ns = c->stacks[i]->call_ns;
        else if (call->known && call->begin && call->begin < time->ticks)
            c->ranks[i].ns = pc_clock_to_ns(time->ticks - call->begin, scale);
    }
}

/* Members of a communicator that was made, looked up once; NULL: not known, or all ranks. */
static const int *members_of(struct pct_where_calls *c, const struct pct_watch *w,
                             enum pct_call_comm comm, uint64_t domain, int *n_out)
{
    const struct pct_where_comm *known = NULL;
    if (comm != PCT_COMM_AS_WORLD && comm != PCT_COMM_OTHER)
        return NULL;
    for (size_t i = 0; i < c->n_comms && !known; i++)
        known = c->comms[i].comm == comm && c->comms[i].domain == domain ? &c->comms[i] : NULL;
    if (!known) {
        struct pct_where_comm found = {.comm = comm, .domain = domain};
        if (comm == PCT_COMM_OTHER)
            found.members = pct_comm_members(&w->comms, domain, &found.n);
        c->comms = pct_grow(c->comms, c->n_comms, &c->room, sizeof *c->comms);
        c->comms[c->n_comms] = found;
        known = &c->comms[c->n_comms++];
    }
    *n_out = known->n;
    return known->members;
}

static void find_members(struct pct_where_calls *c, const struct pct_watch *w)
{
    for (size_t i = 0; i < c->n; i++) {
        struct pct_waiting *r = &c->ranks[i];
        if (*r->op)
            r->members = members_of(c, w, r->call->comm, r->call->domain, &r->n_members);
        for (int k = 0; *r->op && k < r->call->n_messages; k++) {
            struct pct_message *m = &r->call->messages[k];
            m->members = members_of(c, w, m->comm, m->domain, &m->n_members);
        }
    }
}

void pct_where_calls_collect(struct pct_where_calls *c, const struct pct_watch *w,
                             const struct pct_where_time *time)
{
    const struct pct_watched_job *job = w->job;
    if (w->n_stacks == time->first || job->processes[0].rank < 0)
        return;
    c->ranks = pct_alloc(job->n, sizeof *c->ranks);
    c->states = pct_alloc(job->n, 1);
    c->stacks = pct_alloc(job->n, sizeof *c->stacks);
    c->numbers = pct_alloc(job->n, sizeof *c->numbers);
    gather(c, w, time);
    find_members(c, w);
}

void pct_where_calls_conclude(struct pct_where_calls *c, int world, int n_known,
                              pct_where_again_fn *look_again, void *arg)
{
    if (!c->n)
        return;
    if (world <= 0)
        world = c->ranks[c->n - 1].rank + 1;
    pct_waits_find(c->ranks, c->n, world, n_known == world, &c->waits);
    if (!c->waits.n || !look_again(c, arg))
        return;
    pct_waits_free(&c->waits);
    c->waits = (struct pct_waits){0};
    pct_waits_find(c->ranks, c->n, world, n_known == world, &c->waits);
}

void pct_where_calls_free(struct pct_where_calls *c)
{
    pct_waits_free(&c->waits);
    for (size_t i = 0; i < c->n_comms; i++)
        pct_free(c->comms[i].members);
    pct_free(c->comms);
    pct_free(c->ranks);
    pct_free(c->states);
    pct_free(c->stacks);
    pct_free(c->numbers);
}

/* ---- Text ----------------------------------------------------------------------------------- */

void pct_where_comm_put(struct pct_buf *b, const struct pct_where_calls *c, enum pct_call_comm comm,
                        uint64_t domain)
{
    enum { LETTERS = 26 };
    static const char *const names[] = {[PCT_COMM_NONE] = "",
                                        [PCT_COMM_WORLD] = "MPI_COMM_WORLD",
                                        [PCT_COMM_SELF] = "MPI_COMM_SELF",
                                        [PCT_COMM_AS_WORLD] = "a copy of MPI_COMM_WORLD",
                                        [PCT_COMM_OTHER] = "another communicator"};
    size_t n = 0, at = 0;
    for (size_t i = 0; i < c->n_comms; i++) {
        if (c->comms[i].comm != comm || !c->comms[i].domain)
            continue;
        at = c->comms[i].domain == domain ? n : at;
        n++;
    }
    pct_buf_text(b, names[comm]);
    if (n < 2 || !domain)
        return;
    pct_buf_format(b, " (%c", (int)('A' + at % LETTERS));
    if (at >= LETTERS)
        pct_buf_format(b, "%zu", at / LETTERS);
    pct_buf_text(b, ")");
}

/* Appends the rank in MPI_COMM_WORLD, if known, and the rank in the communicator, if it differs. */
static void put_rank(struct pct_buf *b, const int *members, int n_members, int rank)
{
    int world = members && rank < n_members ? members[rank] : rank;
    pct_buf_format(b, "rank %d", world);
    if (world != rank)
        pct_buf_format(b, " (%d there)", rank);
}

static void put_message(struct pct_buf *b, const struct pct_where_calls *c,
                        const struct pct_message *m)
{
    pct_buf_text(b, m->send ? "send to " : "receive from ");
    if (m->peer >= 0)
        put_rank(b, m->members, m->n_members, m->peer);
    else
        pct_buf_text(b, "any rank");
    if (m->tag >= 0)
        pct_buf_format(b, ", tag %d", m->tag);
    else
        pct_buf_text(b, ", any tag");
    pct_buf_text(b, " on ");
    pct_where_comm_put(b, c, m->comm, m->domain);
}

/* Requests of a call that waits for them. */
static void put_requests(struct pct_buf *b, const struct pct_where_calls *c,
                         const struct pct_mpi_call *call)
{
    enum { MOST = 4 };
    int n = call->n_messages < MOST ? call->n_messages : MOST;
    for (int i = 0; i < n; i++) {
        pct_buf_text(b, i ? "; " : ": ");
        put_message(b, c, &call->messages[i]);
    }
    if (call->n_messages > n)
        pct_buf_format(b, "; and %d more", call->n_messages - n);
    if (call->n_unknown)
        pct_buf_format(b, "%s%d request%s of which nothing is known", n ? "; and " : ": ",
                       call->n_unknown, call->n_unknown == 1 ? "" : "s");
}

static void put_call(struct pct_buf *b, const struct pct_where_calls *c,
                     const struct pct_waiting *r)
{
    const struct pct_mpi_call *call = r->call;
    uint32_t traits = pc_op_traits_of(r->op);
    bool sends = traits & PCOLLECT_TRAIT_DEST, receives = traits & PCOLLECT_TRAIT_SOURCE;
    bool takes = receives && !sends;
    pct_buf_text(b, r->op);
    put_requests(b, c, call);
    if (call->peer >= 0) {
        pct_buf_text(b, takes ? " from " : " to ");
        put_rank(b, r->members, r->n_members, call->peer);
    } else if (takes) {
        pct_buf_text(b, call->peer == PCT_RANK_NULL ? " from MPI_PROC_NULL" : " from any rank");
    }
    if (call->source >= 0 && sends && receives) {
        pct_buf_text(b, call->peer >= 0 ? " and from " : " from ");
        put_rank(b, r->members, r->n_members, call->source);
    }
    if (call->root >= 0) {
        pct_buf_text(b, ", root ");
        put_rank(b, r->members, r->n_members, call->root);
    }
    if (call->tag >= 0)
        pct_buf_format(b, ", tag %d", call->tag);
    else if (takes)
        pct_buf_text(b, ", any tag");
    if (call->comm) {
        pct_buf_text(b, " on ");
        pct_where_comm_put(b, c, call->comm, call->domain);
    }
}

static bool has_same_requests(const struct pct_mpi_call *a, const struct pct_mpi_call *b)
{
    bool same = a->n_messages == b->n_messages && a->n_unknown == b->n_unknown;
    for (int i = 0; same && i < a->n_messages; i++) {
        const struct pct_message *x = &a->messages[i], *y = &b->messages[i];
        same = x->send == y->send && x->comm == y->comm && x->domain == y->domain &&
               x->peer == y->peer && x->tag == y->tag;
    }
    return same;
}

static bool is_alike(const struct pct_waiting *a, const struct pct_waiting *b)
{
    const struct pct_mpi_call *x = a->call, *y = b->call;
    return x->known == y->known && !strcmp(a->op, b->op) && x->comm == y->comm &&
           x->domain == y->domain && x->peer == y->peer && x->source == y->source &&
           x->root == y->root && x->tag == y->tag && has_same_requests(x, y);
}

/* Prints ranks in equal calls, from `first` on, as one line, and marks them as printed. */
static void put_alike(FILE *out, const struct pct_where_calls *c, size_t width, size_t first,
                      bool *told)
{
    const struct pct_waiting *r = &c->ranks[first];
    uint64_t least = r->ns, most = r->ns;
    size_t n = 0;
    char from[PCT_NUMBER_BYTES], to[PCT_NUMBER_BYTES];
    struct pct_buf line = {0};
    for (size_t i = first; i < c->n; i++) {
        if (told[i] || !*c->ranks[i].op || !is_alike(r, &c->ranks[i]))
            continue;
        told[i] = true;
        least = c->ranks[i].ns < least ? c->ranks[i].ns : least;
        most = c->ranks[i].ns > most ? c->ranks[i].ns : most;
        c->numbers[n++] = c->ranks[i].rank;
    }
    pct_buf_text(&line, n == 1 ? "rank " : "ranks ");
    pct_print_set(&line, c->numbers, n, ",", n);
    pct_buf_text(&line, ": ");
    put_call(&line, c, r);
    pct_text_time(from, least);
    pct_text_time(to, most);
    if (!most)
        pct_buf_text(&line, ", just begun");
    else if (strcmp(from, to) != 0)
        pct_buf_format(&line, ", for %s to %s", from, to);
    else
        pct_buf_format(&line, ", for %s", to);
    pct_print_sentence(out, width, 6, "    %s", line.data);
    pct_buf_free(&line);
}

void pct_where_calls_print(FILE *out, const struct pct_where_calls *c, size_t width)
{
    enum { MOST_LINES = 32 };
    bool *told = pct_alloc(c->n, sizeof *told);
    size_t n_lines = 0, n_calls = 0, n_known = 0;
    for (size_t i = 0; i < c->n; i++) {
        n_calls += *c->ranks[i].op != '\0';
        n_known += *c->ranks[i].op && c->ranks[i].call->known;
    }
    if (n_calls && !n_known)
        pct_print_sentence(
            out, width, 4,
            "  partners, tags and times of the MPI calls are not known: the job does "
            "not run under `pcollect run`");
    else if (n_calls)
        fputs("  calls of MPI that have not ended:\n", out);
    for (size_t i = 0; i < c->n && n_known && n_lines < MOST_LINES; i++)
        if (!told[i] && *c->ranks[i].op && c->ranks[i].call->known) {
            put_alike(out, c, width, i, told);
            n_lines++;
        }
    for (size_t i = 0; i < c->n; i++)
        n_known -= told[i];
    if (n_known)
        fprintf(out, "    and of %zu more rank%s\n", n_known, n_known == 1 ? "" : "s");
    if (n_calls)
        fputc('\n', out);
    pct_free(told);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put_number(struct pct_buf *b, int number)
{
    if (number >= 0)
        pct_buf_format(b, "%d", number);
}

void pct_where_calls_rows(FILE *out, const struct pct_where_calls *c, bool json)
{
    enum { RANK, PRIMITIVE, COMMUNICATOR, PEER, ROOT, TAG, SECONDS, N_COLUMNS };
    static const struct pct_rows_column columns[N_COLUMNS] = {
        [RANK] = {"rank", false},
        [PRIMITIVE] = {"primitive", true},
        [COMMUNICATOR] = {"communicator", true},
        [PEER] = {"peer", false},
        [ROOT] = {"root", false},
        [TAG] = {"tag", false},
        [SECONDS] = {"seconds", false},
    };
    struct pct_row_writer rows = {.out = out, .json = json, .columns = columns, .n = N_COLUMNS};
    pct_rows_begin(&rows);
    for (size_t i = 0; i < c->n; i++) {
        const struct pct_waiting *r = &c->ranks[i];
        struct pct_buf cells[N_COLUMNS] = {{0}};
        if (!*r->op)
            continue;
        put_number(&cells[RANK], r->rank);
        pct_buf_text(&cells[PRIMITIVE], r->op);
        if (r->call->known) {
            pct_where_comm_put(&cells[COMMUNICATOR], c, r->call->comm, r->call->domain);
            put_number(&cells[PEER], r->call->peer);
            put_number(&cells[ROOT], r->call->root);
            put_number(&cells[TAG], r->call->tag);
            pct_buf_format(&cells[SECONDS], "%.9f", (double)r->ns / 1e9);
        }
        pct_rows_put(&rows, cells);
    }
    pct_rows_end(&rows);
}

enum { R_RANK, R_PRIMITIVE, R_REQUEST, R_COMMUNICATOR, R_PEER, R_TAG, R_COLUMNS };

/* message NULL: nothing is known of the request. */
static void put_request(struct pct_row_writer *rows, const struct pct_where_calls *c,
                        const struct pct_waiting *r, const struct pct_message *message)
{
    struct pct_buf cells[R_COLUMNS] = {{0}};
    put_number(&cells[R_RANK], r->rank);
    pct_buf_text(&cells[R_PRIMITIVE], r->op);
    pct_buf_text(&cells[R_REQUEST], !message ? "unknown" : message->send ? "send" : "receive");
    if (message) {
        pct_where_comm_put(&cells[R_COMMUNICATOR], c, message->comm, message->domain);
        put_number(&cells[R_PEER], message->peer);
        put_number(&cells[R_TAG], message->tag);
    }
    pct_rows_put(rows, cells);
}

void pct_where_requests_rows(FILE *out, const struct pct_where_calls *c, bool json)
{
    static const struct pct_rows_column columns[R_COLUMNS] = {
        [R_RANK] = {"rank", false},      [R_PRIMITIVE] = {"primitive", true},
        [R_REQUEST] = {"request", true}, [R_COMMUNICATOR] = {"communicator", true},
        [R_PEER] = {"peer", false},      [R_TAG] = {"tag", false},
    };
    struct pct_row_writer rows = {.out = out, .json = json, .columns = columns, .n = R_COLUMNS};
    pct_rows_begin(&rows);
    for (size_t i = 0; i < c->n; i++) {
        const struct pct_waiting *r = &c->ranks[i];
        if (!*r->op)
            continue;
        for (int k = 0; k < r->call->n_messages; k++)
            put_request(&rows, c, r, &r->call->messages[k]);
        for (int k = 0; k < r->call->n_unknown; k++)
            put_request(&rows, c, r, NULL);
    }
    pct_rows_end(&rows);
}
