/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/where_calls.h"
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "view/sentence.h"
#include "view/where_print.h"
#include "watch/who_waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct calls {
    const struct pct_where_calls *w;
    struct pct_waiting *ranks; /* rising */
    char *states;              /* of the ranks, as in ps */
    size_t n;
    int *numbers; /* room for n */
    FILE *out;
};

/* ---- What was seen --------------------------------------------------------------------------- */

/* A short time is enough: the scale is that of an invariant counter, and the calls last for
 * seconds. */
static uint64_t find_scale(void)
{
    uint64_t ticks[2], ns[2];
    pc_clock_pair(&ticks[0], &ns[0]);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    pc_clock_pair(&ticks[1], &ns[1]);
    return pc_clock_scale(ticks[0], ns[0], ticks[1], ns[1]);
}

/* Stacks of a process are one behind the other, that of the main thread first. What another thread
 * is in counts where the main thread is outside MPI. */
static void gather(struct calls *c)
{
    const struct pct_watch *w = c->w->watch;
    uint64_t scale = find_scale();
    for (size_t i = c->w->first; i < w->n_stacks; i++) {
        const struct pct_watched_stack *s = &w->stacks[i];
        int rank = w->job->processes[s->process].rank;
        struct pct_waiting *r = c->n ? &c->ranks[c->n - 1] : NULL;
        if (r && r->rank == rank) {
            if (!s->program)
                continue;
            r->several = true;
            if (*r->op || !*s->op)
                continue;
        } else {
            r = &c->ranks[c->n++];
            *r = (struct pct_waiting){.rank = rank};
        }
        r->op = s->op;
        r->call = &s->call;
        r->stopped = s->state == 'T' || s->state == 't';
        r->ns = s->call.known && s->call.begin < c->w->ticks
                    ? pc_clock_to_ns(c->w->ticks - s->call.begin, scale)
                    : 0;
        c->states[r - c->ranks] = s->state;
    }
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void put_ranks(const struct calls *c, struct pct_buf *b, const int *which, size_t n,
                      const char *between)
{
    for (size_t i = 0; i < n; i++)
        c->numbers[i] = c->ranks[which[i]].rank;
    pct_buf_text(b, n == 1 ? "rank " : "ranks ");
    pct_print_set(b, c->numbers, n, between, n);
}

static const char *comm_text(const struct pct_mpi_call *call)
{
    static const char *const texts[] = {[PCT_COMM_NONE] = "",
                                        [PCT_COMM_WORLD] = " on MPI_COMM_WORLD",
                                        [PCT_COMM_SELF] = " on MPI_COMM_SELF",
                                        [PCT_COMM_AS_WORLD] = " on a copy of MPI_COMM_WORLD",
                                        [PCT_COMM_OTHER] = " on a communicator of its own"};
    return texts[call->comm];
}

/* Describes those for whom others wait, if all are in the same. */
static void put_where(const struct calls *c, struct pct_buf *b, const int *which, size_t n)
{
    const struct pct_waiting *first = &c->ranks[which[0]];
    const char *state = pct_state_text(c->states[which[0]], *first->op);
    for (size_t i = 1; i < n; i++)
        if (strcmp(first->op, c->ranks[which[i]].op) != 0 ||
            c->states[which[i]] != c->states[which[0]])
            return;
    pct_buf_format(b, ", which %s ", n == 1 ? "is" : "are");
    pct_buf_format(b, *first->op ? "in %s" : "outside MPI", first->op);
    if (state)
        pct_buf_format(b, ", %s", state);
}

static void put_gone(const struct calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    put_ranks(c, b, w->who, w->n_who, ",");
    pct_buf_format(b, " %s for %s ", w->n_who == 1 ? "waits" : "wait",
                   w->n_whom == 1 ? "rank" : "ranks");
    pct_print_set(b, w->whom, w->n_whom, ",", w->n_whom);
    pct_buf_format(b, ", which %s ended", w->n_whom == 1 ? "has" : "have");
}

static void put_differ(const struct calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    const struct pct_waiting *one = &c->ranks[w->who[0]], *other = &c->ranks[w->whom[0]];
    pct_buf_format(b, "deadlock: collectives%s differ: ", comm_text(one->call));
    put_ranks(c, b, w->who, w->n_who, ",");
    pct_buf_format(b, " in %s, ", one->op);
    put_ranks(c, b, w->whom, w->n_whom, ",");
    pct_buf_format(b, " in %s", other->op);
}

static void put_circle(const struct calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    enum { MOST = 16 };
    pct_buf_text(b, "deadlock: ");
    for (size_t i = 0; i < w->n_who && i < MOST; i++) {
        const struct pct_waiting *r = &c->ranks[w->who[i]];
        if (!i)
            pct_buf_format(b, "rank %d waits in %s", r->rank, r->op);
        else
            pct_buf_format(b, " for rank %d, which waits in %s", r->rank, r->op);
    }
    if (w->n_who > MOST)
        pct_buf_format(b, ", and so on over %zu ranks", w->n_who - MOST);
    pct_buf_format(b, " for rank %d", c->ranks[w->who[0]].rank);
}

static void put_others(const struct calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    const struct pct_waiting *first = &c->ranks[w->who[0]];
    put_ranks(c, b, w->who, w->n_who, ",");
    pct_buf_format(b, " %s in %s%s for ", w->n_who == 1 ? "waits" : "wait", first->op,
                   comm_text(first->call));
    put_ranks(c, b, w->whom, w->n_whom, ",");
    put_where(c, b, w->whom, w->n_whom);
}

static void put_waits(const struct calls *c)
{
    static void (*const put[])(const struct calls *, struct pct_buf *,
                               const struct pct_wait *) = {[PCT_WAIT_GONE] = put_gone,
                                                           [PCT_WAIT_DIFFER] = put_differ,
                                                           [PCT_WAIT_CIRCLE] = put_circle,
                                                           [PCT_WAIT_OTHERS] = put_others};
    const struct pct_watched_job *job = c->w->watch->job;
    struct pct_waits found = {0};
    int world = job->world > 0 ? job->world : c->ranks[c->n - 1].rank + 1;
    bool here = job->whole && pct_watch_launch(job->processes[0].pid).n_local == world;
    pct_waits_find(c->ranks, c->n, world, here, &found);
    for (size_t i = 0; i < found.n; i++) {
        struct pct_buf line = {0};
        put[found.at[i].kind](c, &line, &found.at[i]);
        pct_print_sentence(c->out, c->w->width, 4, "  %s", line.data);
        pct_buf_free(&line);
    }
    if (found.n)
        fputc('\n', c->out);
    pct_waits_free(&found);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void put_call(struct pct_buf *b, const struct pct_waiting *r)
{
    const struct pct_mpi_call *call = r->call;
    bool takes = !strncmp(r->op, "MPI_Recv", 8) || strstr(r->op, "robe") != NULL;
    pct_buf_text(b, r->op);
    if (call->peer >= 0)
        pct_buf_format(b, " %s rank %d", takes ? "from" : "to", call->peer);
    else if (takes)
        pct_buf_text(b, " from any rank");
    if (call->root >= 0)
        pct_buf_format(b, ", root %d", call->root);
    if (call->tag >= 0)
        pct_buf_format(b, ", tag %d", call->tag);
    else if (takes)
        pct_buf_text(b, ", any tag");
    pct_buf_text(b, comm_text(call));
}

static bool is_alike(const struct pct_waiting *a, const struct pct_waiting *b)
{
    const struct pct_mpi_call *x = a->call, *y = b->call;
    return x->known == y->known && !strcmp(a->op, b->op) && x->comm == y->comm &&
           x->domain == y->domain && x->peer == y->peer && x->root == y->root && x->tag == y->tag;
}

/* Ranks in alike calls from `first` on as one line; they are then told. */
static void put_alike(const struct calls *c, size_t first, bool *told)
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
    put_call(&line, r);
    pct_text_time(from, least);
    pct_text_time(to, most);
    if (!most)
        pct_buf_text(&line, ", just begun");
    else if (strcmp(from, to) != 0)
        pct_buf_format(&line, ", for %s to %s", from, to);
    else
        pct_buf_format(&line, ", for %s", to);
    pct_print_sentence(c->out, c->w->width, 6, "    %s", line.data);
    pct_buf_free(&line);
}

static void put_calls(const struct calls *c)
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
            c->out, c->w->width, 4,
            "  partners, tags and times of the MPI calls are not known: the job does "
            "not run under `pcollect run`");
    else if (n_calls)
        fputs("  calls of MPI that have not ended:\n", c->out);
    for (size_t i = 0; i < c->n && n_known && n_lines < MOST_LINES; i++)
        if (!told[i] && *c->ranks[i].op && c->ranks[i].call->known) {
            put_alike(c, i, told);
            n_lines++;
        }
    for (size_t i = 0; i < c->n; i++)
        n_known -= told[i];
    if (n_known)
        fprintf(c->out, "    and of %zu more rank%s\n", n_known, n_known == 1 ? "" : "s");
    if (n_calls)
        fputc('\n', c->out);
    pct_free(told);
}

void pct_where_calls_print(FILE *out, const struct pct_where_calls *w)
{
    size_t n = w->watch->n_stacks - w->first;
    struct calls c = {.w = w, .out = out};
    if (!n || w->watch->job->processes[0].rank < 0)
        return;
    c.ranks = pct_alloc(n, sizeof *c.ranks);
    c.states = pct_alloc(n, 1);
    c.numbers = pct_alloc(n, sizeof *c.numbers);
    gather(&c);
    put_waits(&c);
    put_calls(&c);
    pct_free(c.ranks);
    pct_free(c.states);
    pct_free(c.numbers);
}
