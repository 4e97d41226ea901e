/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts events in turns, and makes figures from them.
 */
#include "watch/count.h"
#include "analysis/allocation.h"
#include "analysis/student.h"

#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_TURN_NS = 5000000, MOST_TURN_NS = 25000000, LEAST_TURNS = 3 };

/* Time spent in switching between turns does not count as missing. */
static const double whole = 0.999;

/* Two contexts: of the events that always count, and of those that take turns. */
enum { STEADY, TURNS, N_CONTEXTS };

/* Sums over the turns of one event: x is the time that its group counted, v the count. */
struct turns {
    double n, x, v, xx, xv, vv;
};

struct viewee {
    struct pc_counting_view *view[N_CONTEXTS];
    struct pc_counting_values *last[N_CONTEXTS]; /* of each group */
};

struct target {
    struct viewee *viewees;
    size_t n, room;
};

struct pct_count {
    size_t n_events; /* including the clock */
    struct {
        int context;
        uint32_t number; /* in its context */
    } * events;
    struct pc_counting *contexts[N_CONTEXTS]; /* NULL: no event is in it */
    uint32_t n_groups;                        /* groups that take turns */
    uint32_t group;                           /* group whose turn it is */
    bool started;
    uint64_t turn_ends_ns, random;
    struct target *targets;
    size_t n_targets, room;
    struct turns *turns;              /* of each target and event, since the last take */
    struct pct_count_figure *figures; /* of each target and event */
};

/* ---- What ------------------------------------------------------------------------------------ */

static bool is_steady(const struct pc_counting_event *e)
{
    for (uint32_t i = 0; i < e->n_terms; i++)
        if (e->terms[i].type != PERF_TYPE_SOFTWARE && e->terms[i].type != PERF_TYPE_TRACEPOINT)
            return false;
    return true;
}

/* Makes a context from the events that belong to it; skips the others. */
static int make_context(struct pct_count *c, int context, const struct pc_counting_event *events,
                        uint32_t per_group, struct pc_error *error)
{
    struct pc_counting_event of[PC_COUNTING_MAX_EVENTS];
    uint32_t n = 0;
    for (size_t e = 0; e < c->n_events; e++) {
        if (c->events[e].context != context)
            continue;
        c->events[e].number = n;
        of[n++] = events[e];
    }
    if (!n)
        return PC_OK;
    struct pc_counting_what what = {
        .events = of, .n_events = n, .per_group = per_group, .no_anchor = 1};
    int err = pc_counting_create(&c->contexts[context], error);
    return err ? err : pc_counting_set(c->contexts[context], &what, error);
}

/* Makes room for n events and the clock, in no context. */
static struct pct_count *begin(size_t n)
{
    struct pct_count *c = pct_alloc(1, sizeof *c);
    c->n_events = n + 1;
    c->events = pct_alloc(n + 1, sizeof *c->events);
    return c;
}

struct pct_count *pct_count_nothing(void)
{
    return begin(0);
}

int pct_count_new(const struct pc_counting_event *events, size_t n, uint32_t per_group,
                  struct pct_count **out, struct pc_error *error)
{
    struct pct_count *c = begin(n);
    struct pc_counting_event *all = pct_alloc(n + 1, sizeof *all);
    c->random = pc_hash_u64(pc_mono_ns() ^ (uint64_t)getpid() << 40);
    all[PCT_COUNT_CLOCK] = (struct pc_counting_event){
        .n_terms = 1,
        .terms = {{.type = PERF_TYPE_SOFTWARE, .sign = 1, .config = PERF_COUNT_SW_TASK_CLOCK}}};
    int err = pc_counting_try(&all[PCT_COUNT_CLOCK], error);
    for (size_t e = 0; e < n; e++)
        all[e + 1] = events[e];
    /* With a limit on the group size all events take turns, so that the limit applies to all. */
    for (size_t e = 0; e <= n; e++)
        c->events[e].context = !e || (is_steady(&all[e]) && !per_group) ? STEADY : TURNS;
    for (int k = 0; k < N_CONTEXTS && !err; k++)
        err = make_context(c, k, all, k == STEADY ? 0 : per_group, error);
    pct_free(all);
    c->n_groups = c->contexts[TURNS] ? pc_counting_n_groups(c->contexts[TURNS]) : 0;
    c->group = PC_COUNTING_NO_GROUP;
    if (err)
        pct_count_free(c);
    else
        *out = c;
    return err;
}

/* ---- Who ------------------------------------------------------------------------------------- */

static void close_viewee(struct viewee *v)
{
    for (int k = 0; k < N_CONTEXTS; k++) {
        if (v->view[k])
            pc_counting_view_close(v->view[k]);
        pct_free(v->last[k]);
    }
}

static void add_target(struct pct_count *c)
{
    size_t n = ++c->n_targets * c->n_events, room = n - c->n_events;
    c->targets = pct_grow(c->targets, c->n_targets - 1, &c->room, sizeof *c->targets);
    c->targets[c->n_targets - 1] = (struct target){0};
    size_t room_too = room;
    c->turns = pct_grow(c->turns, n, &room, sizeof *c->turns);
    c->figures = pct_grow(c->figures, n, &room_too, sizeof *c->figures);
    memset(c->turns + n - c->n_events, 0, c->n_events * sizeof *c->turns);
    memset(c->figures + n - c->n_events, 0, c->n_events * sizeof *c->figures);
}

int pct_count_add(struct pct_count *c, size_t target, const struct pc_counting_viewee *who,
                  struct pc_error *error)
{
    struct viewee v = {0};
    for (int k = 0; k < N_CONTEXTS; k++) {
        int err =
            c->contexts[k] ? pc_counting_view_open(c->contexts[k], who, &v.view[k], error) : PC_OK;
        if (err) {
            close_viewee(&v);
            return err;
        }
        v.last[k] = pct_alloc(k == STEADY ? 1 : c->n_groups + 1, sizeof *v.last[k]);
    }
    while (target >= c->n_targets)
        add_target(c);
    struct target *t = &c->targets[target];
    t->viewees = pct_grow(t->viewees, t->n, &t->room, sizeof *t->viewees);
    t->viewees[t->n++] = v;
    for (int k = 0; k < N_CONTEXTS && c->started; k++)
        if (v.view[k])
            pc_counting_view_switch(v.view[k], k == STEADY ? 0 : c->group);
    return PC_OK;
}

size_t pct_count_n_viewees(const struct pct_count *c, size_t target)
{
    return target < c->n_targets ? c->targets[target].n : 0;
}

void pct_count_keep(struct pct_count *c, size_t target, size_t n)
{
    while (pct_count_n_viewees(c, target) > n)
        close_viewee(&c->targets[target].viewees[--c->targets[target].n]);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void switch_all(struct pct_count *c, int context, uint32_t group)
{
    for (size_t t = 0; t < c->n_targets; t++)
        for (size_t i = 0; i < c->targets[t].n; i++)
            if (c->targets[t].viewees[i].view[context])
                pc_counting_view_switch(c->targets[t].viewees[i].view[context], group);
}

/* Adds what a group of a context has counted since it was last read, as one turn. */
static void read_group(struct pct_count *c, int context, uint32_t group)
{
    for (size_t t = 0; t < c->n_targets; t++) {
        double x = 0, v[PC_COUNTING_MAX_EVENTS] = {0};
        uint64_t held = 0;
        for (size_t i = 0; i < c->targets[t].n; i++) {
            struct viewee *who = &c->targets[t].viewees[i];
            struct pc_counting_values now, *last = who->last[context] + group;
            if (!who->view[context] || pc_counting_view_get(who->view[context], group, &now))
                continue;
            held |= now.held;
            x += (double)(now.running_ns - last->running_ns);
            for (uint32_t e = 0; e < PC_COUNTING_MAX_EVENTS; e++)
                v[e] += (double)(int64_t)(now.value[e] - last->value[e]);
            *last = now;
        }
        for (size_t e = 0; e < c->n_events; e++) {
            struct turns *s = &c->turns[t * c->n_events + e];
            double y = v[c->events[e].number];
            if (c->events[e].context != context || !(held >> c->events[e].number & 1) || x <= 0)
                continue;
            s->n++;
            s->x += x;
            s->v += y;
            s->xx += x * x;
            s->xv += x * y;
            s->vv += y * y;
        }
    }
}

/* Begins a turn of random length, uniform from LEAST_TURN_NS to MOST_TURN_NS, with a random group:
 * so a periodic program affects all groups equally. */
static void begin_turn(struct pct_count *c)
{
    c->random = pc_hash_u64(c->random + 0x9e3779b97f4a7c15u);
    c->group = (uint32_t)(c->random >> 32) % c->n_groups;
    c->turn_ends_ns =
        pc_mono_ns() + LEAST_TURN_NS + (uint32_t)c->random % (MOST_TURN_NS - LEAST_TURN_NS);
    switch_all(c, TURNS, c->group);
}

void pct_count_start(struct pct_count *c)
{
    switch_all(c, STEADY, 0);
    c->started = true;
    if (c->n_groups > 1)
        begin_turn(c);
    else if (c->n_groups)
        switch_all(c, TURNS, c->group = 0);
}

uint64_t pct_count_turn(struct pct_count *c)
{
    uint64_t now = pc_mono_ns();
    if (c->n_groups < 2 || !c->started)
        return UINT64_MAX;
    if (now < c->turn_ends_ns)
        return c->turn_ends_ns - now;
    switch_all(c, TURNS, PC_COUNTING_NO_GROUP);
    read_group(c, TURNS, c->group);
    begin_turn(c);
    now = pc_mono_ns();
    return c->turn_ends_ns > now ? c->turn_ends_ns - now : 0;
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* Makes a figure from turns. `all`: the time of the target. */
static struct pct_count_figure judge(const struct turns *s, double all, bool turns)
{
    struct pct_count_figure f = {.known = s->x > 0 || all <= 0, .value = s->v};
    f.share = f.known ? 1 : 0;
    if (!f.known || all <= 0)
        return f;
    f.share = fmin(s->x / all, 1);
    f.estimated = turns ? s->x < all : f.share < whole;
    if (!f.estimated)
        return f;
    double ratio = s->v / s->x, left = s->vv - 2 * ratio * s->xv + ratio * ratio * s->xx;
    f.value = ratio * all;
    f.error = -1;
    if (turns && s->n >= LEAST_TURNS)
        f.error = pct_student_95((size_t)s->n - 1) * all / s->x *
                  sqrt(s->n * (1 - f.share) * fmax(left, 0) / (s->n - 1));
    return f;
}

void pct_count_take(struct pct_count *c)
{
    read_group(c, STEADY, 0);
    if (c->started && c->n_groups)
        read_group(c, TURNS, c->group);
    for (size_t t = 0; t < c->n_targets; t++) {
        struct turns *row = c->turns + t * c->n_events;
        double all = row[PCT_COUNT_CLOCK].x;
        for (size_t e = 0; e < c->n_events; e++) {
            bool turns = c->events[e].context == TURNS && c->n_groups > 1;
            c->figures[t * c->n_events + e] = judge(&row[e], all, turns);
        }
        memset(row, 0, c->n_events * sizeof *row);
    }
}

size_t pct_count_n_targets(const struct pct_count *c)
{
    return c->n_targets;
}

bool pct_count_turns(const struct pct_count *c)
{
    return c->n_groups > 1;
}

struct pct_count_figure pct_count_figure(const struct pct_count *c, size_t target, size_t event)
{
    return c->figures[target * c->n_events + event];
}

/* Sums over targets. Their errors are independent, from the scatter of their own turns. A target
 * with an unknown figure makes the total unknown. */
struct pct_count_figure pct_count_total(const struct pct_count *c, size_t event)
{
    struct pct_count_figure sum = {.known = true};
    double squares = 0, counted = 0, all = 0;
    for (size_t t = 0; t < c->n_targets; t++) {
        struct pct_count_figure f = pct_count_figure(c, t, event);
        double time = pct_count_figure(c, t, PCT_COUNT_CLOCK).value;
        sum.known &= f.known;
        sum.estimated |= f.estimated;
        sum.value += f.value;
        squares = f.error < 0 || squares < 0 ? -1 : squares + f.error * f.error;
        counted += f.share * time;
        all += time;
    }
    sum.error = squares < 0 ? -1 : sqrt(squares);
    sum.share = all > 0 ? counted / all : 1;
    return sum;
}

void pct_count_free(struct pct_count *c)
{
    if (!c)
        return;
    for (size_t t = 0; t < c->n_targets; t++) {
        pct_count_keep(c, t, 0);
        pct_free(c->targets[t].viewees);
    }
    for (int k = 0; k < N_CONTEXTS; k++)
        if (c->contexts[k])
            pc_counting_free(c->contexts[k]);
    pct_free(c->targets);
    pct_free(c->turns);
    pct_free(c->figures);
    pct_free(c->events);
    pct_free(c);
}
