/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conclusions from the MPI calls of all ranks (watch/who_waits.h), as sentences.
 */
#include "command/where_calls.h"
#include "view/rows.h"
#include "view/sentence.h"
#include "view/where_print.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sentences ------------------------------------------------------------------------------- */

static void put_set(const struct pct_where_calls *c, struct pct_buf *b, const int *which, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c->numbers[i] = c->ranks[which[i]].rank;
    if (n)
        qsort(c->numbers, n, sizeof *c->numbers, pc_compare_ints);
    pct_print_set(b, c->numbers, n, ",", n);
}

static void put_ranks(const struct pct_where_calls *c, struct pct_buf *b, const int *which,
                      size_t n)
{
    pct_buf_text(b, n == 1 ? "rank " : "ranks ");
    put_set(c, b, which, n);
}

static void put_comm(const struct pct_where_calls *c, struct pct_buf *b, enum pct_call_comm comm,
                     uint64_t domain)
{
    if (comm == PCT_COMM_NONE)
        return;
    pct_buf_text(b, " on ");
    pct_where_comm_put(b, c, comm, domain);
}

/* Describes the ranks that others wait for, if all of them are in the same place. */
static void put_where(const struct pct_where_calls *c, struct pct_buf *b, const int *which,
                      size_t n)
{
    const struct pct_waiting *first = &c->ranks[which[0]];
    const char *state = pct_state_text(c->states[which[0]], *first->op);
    for (size_t i = 1; i < n; i++)
        if (strcmp(first->op, c->ranks[which[i]].op) != 0 ||
            c->states[which[i]] != c->states[which[0]])
            return;
    if (!c->states[which[0]])
        return;
    pct_buf_format(b, ", which %s ", n == 1 ? "is" : "are");
    pct_buf_format(b, *first->op ? "in %s" : "outside MPI", first->op);
    if (state)
        pct_buf_format(b, ", %s", state);
}

static void put_gone(const struct pct_where_calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    put_ranks(c, b, w->who, w->n_who);
    pct_buf_format(b, " %s for %s ", w->n_who == 1 ? "waits" : "wait",
                   w->n_whom == 1 ? "rank" : "ranks");
    pct_print_set(b, w->whom, w->n_whom, ",", w->n_whom);
    pct_buf_format(b, ", which %s ended", w->n_whom == 1 ? "has" : "have");
}

static void put_differ(const struct pct_where_calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    const struct pct_waiting *one = &c->ranks[w->who[0]], *other = &c->ranks[w->whom[0]];
    pct_buf_text(b, "deadlock: collectives");
    put_comm(c, b, one->call->comm, one->call->domain);
    pct_buf_text(b, " differ: ");
    put_ranks(c, b, w->who, w->n_who);
    pct_buf_format(b, " in %s, ", one->op);
    put_ranks(c, b, w->whom, w->n_whom);
    pct_buf_format(b, " in %s", other->op);
}

/* Says why a message that is sent is not the one that is received. */
static void put_misfit(const struct pct_where_calls *c, struct pct_buf *b,
                       const struct pct_misfit *m)
{
    const struct pct_message *sent = &m->sent, *received = &m->received;
    int from = c->ranks[m->sender].rank, to = c->ranks[m->receiver].rank;
    if (sent->domain != received->domain) {
        pct_buf_format(b, "; communicators differ: rank %d sends", from);
        put_comm(c, b, sent->comm, sent->domain);
        pct_buf_format(b, ", rank %d receives", to);
        put_comm(c, b, received->comm, received->domain);
    } else {
        pct_buf_format(b, "; tags differ: rank %d sends tag %d, rank %d receives tag %d", from,
                       sent->tag, to, received->tag);
    }
}

static void put_circle(const struct pct_where_calls *c, struct pct_buf *b, const struct pct_wait *w)
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
        pct_buf_format(b, ", and so on over %zu %s", w->n_who - MOST,
                       w->n_who == MOST + 1 ? "rank" : "ranks");
    pct_buf_format(b, " for rank %d", c->ranks[w->who[0]].rank);
    if (w->misfit.found)
        put_misfit(c, b, &w->misfit);
}

static void put_others(const struct pct_where_calls *c, struct pct_buf *b, const struct pct_wait *w)
{
    const struct pct_waiting *first = &c->ranks[w->who[0]];
    put_ranks(c, b, w->who, w->n_who);
    pct_buf_format(b, " %s in %s", w->n_who == 1 ? "waits" : "wait", first->op);
    put_comm(c, b, first->call->comm, first->call->domain);
    pct_buf_text(b, " for ");
    put_ranks(c, b, w->whom, w->n_whom);
    put_where(c, b, w->whom, w->n_whom);
}

/* ---- Formats --------------------------------------------------------------------------------- */

static const struct kind {
    const char *name;
    void (*put)(const struct pct_where_calls *, struct pct_buf *, const struct pct_wait *);
} kinds[] = {[PCT_WAIT_GONE] = {"ended", put_gone},
             [PCT_WAIT_DIFFER] = {"differ", put_differ},
             [PCT_WAIT_CIRCLE] = {"circle", put_circle},
             [PCT_WAIT_OTHERS] = {"late", put_others}};

void pct_where_waits_print(FILE *out, const struct pct_where_calls *c, size_t width)
{
    for (size_t i = 0; i < c->waits.n; i++) {
        const struct pct_wait *w = &c->waits.at[i];
        struct pct_buf line = {0};
        kinds[w->kind].put(c, &line, w);
        pct_print_sentence(out, width, 4, "  %s", line.data);
        pct_buf_free(&line);
    }
    if (c->waits.n)
        fputc('\n', out);
}

void pct_where_waits_rows(FILE *out, const struct pct_where_calls *c, bool json)
{
    enum { KIND, RANKS, FOR, SENTENCE, N_COLUMNS };
    static const struct pct_rows_column columns[N_COLUMNS] = {
        [KIND] = {"kind", true},
        [RANKS] = {"ranks", true},
        [FOR] = {"for", true},
        [SENTENCE] = {"sentence", true},
    };
    struct pct_row_writer rows = {.out = out, .json = json, .columns = columns, .n = N_COLUMNS};
    pct_rows_begin(&rows);
    for (size_t i = 0; i < c->waits.n; i++) {
        const struct pct_wait *w = &c->waits.at[i];
        struct pct_buf cells[N_COLUMNS] = {{0}};
        pct_buf_text(&cells[KIND], kinds[w->kind].name);
        put_set(c, &cells[RANKS], w->who, w->n_who);
        if (w->kind == PCT_WAIT_GONE)
            pct_print_set(&cells[FOR], w->whom, w->n_whom, ",", w->n_whom);
        else
            put_set(c, &cells[FOR], w->whom, w->n_whom);
        kinds[w->kind].put(c, &cells[SENTENCE], w);
        pct_rows_put(&rows, cells);
    }
    pct_rows_end(&rows);
}
