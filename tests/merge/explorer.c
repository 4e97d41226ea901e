/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/explorer.h"
#include "tests/merge/choices.h"
#include "tests/merge/letters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 1 << 20,
    STOP_MS = 70000,       /* longer than a rank that voted waits for the answer */
    STOP_WORDS_MS = 20000, /* two of them are shorter than the answer may be kept */
    SLOW_MS = 5000,
    LEFT_MS = 2000 /* for which those are waited for of whom some have left */
};

enum op_kind { ARRIVE, BEGIN, AWAIT, JOIN, SEND, SIZE, RECEIVE, BROADCAST, EFFECT, LATE };
static const char *const op_names[] = {"arrive", "begin", "await",     "join",   "send",
                                       "size",   "recv",  "broadcast", "effect", "late"};

enum outcome { GO, TIMED_OUT, KILLED };

struct op {
    enum op_kind kind;
    int arg; /* step or rank */
};

struct rank {
    struct pc_transport transport;
    ucontext_t context;
    struct op op;
    enum outcome outcome;
    uint64_t history; /* hash of all results */
    uint64_t arrival_ms, end_ms, ready_ms, deadline_ms, node;
    bool has_deadline, killed, done, joined, tells, has_arena, marked, left;
    unsigned late_at; /* when it did its last step after the merge, or was killed */
    unsigned late;    /* how many of these two steps it has done */
    bool begun[PC_MEET_STEPS];
    char word[PC_MEET_STEPS];
    uint64_t word_at_ms[PC_MEET_STEPS]; /* when the word is with its receiver */
    struct pc_route route;
    enum pc_end end;
};

static char stacks[EXPLORED_RANKS][STACK_BYTES];

static struct {
    const struct exploration *x;
    const struct explored_files *files;
    struct explored *out;
    struct rank rank[EXPLORED_RANKS];
    ucontext_t scheduler;
    int running;
    uint64_t now_ms;
    struct letter *letters;
    unsigned n_kills, n_stops, n_slow, n_recoveries, n_killed_recoveries;
    unsigned n_late; /* steps after the merge, and kills */
    bool cut;        /* known from here on */
    bool has_profile;
    struct choices of;
} w;

/* ---- Choices and states --------------------------------------------------------------------- */

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *format, ...)
{
    char *text = w.out->wrong;
    size_t room = sizeof w.out->wrong, n;
    va_list list;
    if (*text)
        return;
    va_start(list, format);
    n = (size_t)vsnprintf(text, room, format, list);
    va_end(list);
    for (unsigned i = 0; i < w.of.depth && n < room - 30; i++)
        if (w.of.choice[i])
            n += (size_t)snprintf(text + n, room - n, "; %s", w.of.told[i]);
}

static unsigned arenas_of(int node)
{
    unsigned ranks = 0;
    for (int i = 0; i < w.x->n_ranks; i++)
        if (w.x->node[i] == node && w.rank[i].has_arena)
            ranks |= 1u << i;
    return ranks;
}

/* State on which recoveries work. */
static uint64_t files_now(void)
{
    uint64_t h = mix(w.n_recoveries * 16 + w.n_killed_recoveries, w.files->n_profiles());
    for (int i = 0; i < w.x->n_ranks; i++) {
        const struct rank *r = &w.rank[i];
        h = mix(h, r->has_arena * 4u + r->marked * 2u + w.files->is_whole(i));
    }
    return h;
}

static uint64_t state_now(void)
{
    uint64_t h = mix(w.now_ms, w.n_kills * 100 + w.n_stops * 10 + w.n_slow);
    for (int i = 0; i < w.x->n_ranks; i++) {
        const struct rank *r = &w.rank[i];
        h = mix(h, r->history);
        h = mix(h, (uint64_t)r->op.kind * 64 + (uint64_t)r->op.arg);
        h = mix(h, (uint64_t)r->killed * 2 + r->done);
        h = mix(mix(h, r->arrival_ms), r->ready_ms);
        h = mix(h, r->has_deadline ? r->deadline_ms : 0);
        for (int step = 0; step < PC_MEET_STEPS; step++)
            h = mix(h, r->word_at_ms[step]);
    }
    for (const struct letter *l = w.letters; l; l = l->next)
        h = mix(h, l->at_ms * 64 + (uint64_t)(l->from * 8 + l->to));
    return w.n_recoveries ? mix(h, files_now()) : h;
}

static unsigned choose(unsigned n)
{
    if (!choices_have_room(&w.of)) {
        wrong("a run has no end");
        w.cut = true;
        return 0;
    }
    return choices_take(&w.of, n);
}

/* ---- Steps of a rank ------------------------------------------------------------------------ */

static struct rank *self(void)
{
    return &w.rank[w.running];
}

static enum outcome step(enum op_kind kind, int arg, int limit_ms)
{
    struct rank *r = self();
    if (r->killed)
        return KILLED;
    r->op = (struct op){kind, arg};
    r->has_deadline = limit_ms >= 0;
    r->deadline_ms = w.now_ms + (uint64_t)(limit_ms < 0 ? 0 : limit_ms);
    swapcontext(&r->context, &w.scheduler);
    r->has_deadline = false;
    r->history =
        mix(r->history, (uint64_t)kind * 1000 + (uint64_t)arg * 10 + (uint64_t)r->outcome + 1);
    return r->outcome;
}

static uint64_t delivery(void)
{
    unsigned slow = w.n_slow < w.x->n_slow ? choose(2) : 0;
    if (!slow)
        return w.now_ms;
    w.n_slow++;
    snprintf(w.of.told[w.of.depth - 1], sizeof w.of.told[0], "a word is slow");
    return w.now_ms + SLOW_MS;
}

static int t_begin(void *t, enum pc_meeting_step at, char word)
{
    struct rank *r = t;
    if (step(BEGIN, at, -1) != GO || w.x->mute[r->transport.rank])
        return r->killed ? PC_EIO : PC_ENOMEM;
    r->begun[at] = true;
    r->word[at] = word;
    r->word_at_ms[at] = pc_meet_gathers(at) == (r->transport.rank != 0) ? delivery() : w.now_ms;
    return PC_OK;
}

static bool has_come(int from, int at)
{
    return w.rank[from].begun[at] && w.rank[from].word_at_ms[at] <= w.now_ms;
}

static int t_await(void *t, enum pc_meeting_step at, int limit_ms)
{
    (void)t;
    enum outcome o = step(AWAIT, at, limit_ms);
    return o == GO ? PC_OK : o == TIMED_OUT ? PC_ENOENT : PC_EIO;
}

static char t_word(void *t, enum pc_meeting_step at, int rank)
{
    struct rank *r = t;
    int from = pc_meet_gathers(at) ? rank : 0;
    char word = has_come(from, at) ? w.rank[from].word[at] : 0;
    r->history = mix(r->history, (uint64_t)word);
    return word;
}

/* That of a rank is in one place, wherever it is read. */
static void *t_with_word(void *t, enum pc_meeting_step at, int rank)
{
    (void)t;
    return at == PC_MEET_HERE ? (void *)&w.rank[rank].node : (void *)&w.rank[rank].route;
}

static uint64_t t_now_ms(void *t)
{
    struct rank *r = t;
    r->history = mix(r->history, w.now_ms);
    return w.now_ms;
}

static int t_join(void *t)
{
    struct rank *r = t;
    r->joined = true;
    return step(JOIN, 0, -1) == GO ? PC_OK : PC_EIO;
}

static void post(int to, const void *data, size_t n, bool is_broadcast)
{
    struct letter l = {NULL, self()->transport.rank, to, is_broadcast, w.now_ms, n};
    letters_post(&w.letters, &l, data);
}

static int t_send(void *t, const void *data, size_t n, int to)
{
    (void)t;
    if (step(SEND, to, -1) != GO)
        return PC_EIO;
    post(to, data, n, false);
    return PC_OK;
}

static int t_size(void *t, int from, size_t *n_out)
{
    struct rank *r = t;
    if (step(SIZE, from, -1) != GO)
        return PC_EIO;
    struct letter **at = letters_find(&w.letters, from, r->transport.rank, false);
    *n_out = (*at)->n;
    if (!(*at)->n)
        letters_receive(at, NULL, 0);
    return PC_OK;
}

static int t_receive(void *t, void *data, size_t n, int from)
{
    struct rank *r = t;
    if (step(RECEIVE, from, -1) != GO)
        return PC_EIO;
    letters_receive(letters_find(&w.letters, from, r->transport.rank, false), data, n);
    return PC_OK;
}

static int t_broadcast(void *t, void *data, size_t n, int root)
{
    struct rank *r = t;
    if (step(BROADCAST, root, -1) != GO)
        return PC_EIO;
    for (int to = 0; r->transport.rank == root && to < w.x->n_ranks; to++)
        if (to != root)
            post(to, data, n, true);
    if (r->transport.rank != root)
        letters_receive(letters_find(&w.letters, root, r->transport.rank, true), data, n);
    return PC_OK;
}

/* ---- Effects -------------------------------------------------------------------------------- */

static uint64_t e_key(void *e)
{
    (void)e;
    return 0;
}

static void e_take_key(void *e, uint64_t key)
{
    (void)e, (void)key;
}

static int e_merge(void *e, const struct pc_transport *t, struct pc_error *error)
{
    struct rank *r = e;
    int err = w.files->merge(w.x->kind[t->rank] == REFUSED ? -1 : t->rank, t, error);
    if (t->rank == 0 && !err && !r->killed)
        w.has_profile = true;
    return err;
}

static void e_effect(void *e)
{
    (void)e;
    step(EFFECT, 0, -1);
}

static void e_mark(void *e)
{
    struct rank *r = e;
    if (step(EFFECT, 3, -1) == GO)
        r->marked = true;
}

static void e_remove(void *e)
{
    struct rank *r = e;
    if (step(EFFECT, 1, -1) != GO || !r->has_arena)
        return;
    r->has_arena = false;
    if (!w.files->is_whole(r->transport.rank))
        wrong("rank %d has removed its arena, and no whole profile holds it", r->transport.rank);
}

/* True if a rank has left by now, or if `by_now` is false will ever leave. */
static bool some_left(bool by_now)
{
    for (int i = 0; i < w.x->n_ranks; i++)
        if (w.x->mute[i] ? !by_now || w.rank[i].left
                         : w.x->kind[i] == LEFT && (!by_now || w.rank[i].arrival_ms <= w.now_ms))
            return true;
    return false;
}

static void e_look(struct pc_guest *guest)
{
    if (some_left(true))
        guest->limit_ms = LEFT_MS;
}

static void e_leave(struct pc_guest *guest)
{
    (void)guest;
    self()->left = !self()->killed;
}

/* The view of the other ranks decides who writes, so it is part of the state of the run. */
static void do_late(struct rank *r)
{
    int me = r->transport.rank;
    r->late++;
    r->late_at = ++w.n_late;
    for (int i = 0; i < w.x->n_ranks; i++)
        r->history = mix(r->history, w.rank[i].late * 4u + w.rank[i].killed * 2u +
                                         (w.rank[i].joined || w.rank[i].done));
    if (w.files->late(me, r->late == 2))
        wrong("rank %d cannot write what it did late", me);
}

static void live(void)
{
    struct rank *r = self();
    int me = r->transport.rank;
    struct pc_error error = {""};
    struct pc_ending ending = {
        .self = r,
        .guest = {.node = 1 + (uint64_t)w.x->node[me],
                  .limit_ms = w.x->limit_ms[me],
                  .speaks = w.x->speaks[me],
                  .look = some_left(false) ? e_look : NULL,
                  .leave = e_leave},
        .key = e_key,
        .take_key = e_take_key,
        .merge = e_merge,
        .mark = e_mark,
        .announce = e_effect,
        .remove = e_remove,
    };
    if (step(ARRIVE, 0, -1) == GO)
        r->end = w.x->end(&ending, &r->transport, &r->tells, &error);
    for (int i = 0; i < 2; i++)
        if (!r->killed && r->end == PC_END_MERGED && step(LATE, i, -1) == GO)
            do_late(r);
    r->end_ms = w.now_ms;
    r->done = true;
    swapcontext(&r->context, &w.scheduler);
}

/* ---- The scheduler -------------------------------------------------------------------------- */

static void resume(struct rank *r, enum outcome outcome)
{
    r->outcome = outcome;
    if (outcome == KILLED && !r->killed)
        r->late_at = ++w.n_late;
    r->killed |= outcome == KILLED;
    w.running = r->transport.rank;
    w.out->n_steps++;
    swapcontext(&w.scheduler, &r->context);
}

static bool all_have(int at)
{
    for (int i = 0; i < w.x->n_ranks; i++)
        if (!has_come(i, at))
            return false;
    return true;
}

static bool is_complete(const struct rank *r, int at)
{
    bool receives = pc_meet_gathers(at) == (r->transport.rank == 0);
    return !receives || (pc_meet_gathers(at) ? all_have(at) : has_come(0, at));
}

static bool all_joined(void)
{
    for (int i = 0; i < w.x->n_ranks; i++)
        if (!w.rank[i].joined)
            return false;
    return true;
}

static bool can_go(const struct rank *r)
{
    int me = r->transport.rank;
    if (r->done || r->killed || r->ready_ms > w.now_ms)
        return false;
    switch (r->op.kind) {
    case AWAIT:
        return is_complete(r, r->op.arg);
    case JOIN:
        return all_joined();
    case SIZE:
    case RECEIVE:
        return *letters_find(&w.letters, r->op.arg, me, false) != NULL;
    case BROADCAST:
        return me == r->op.arg || *letters_find(&w.letters, r->op.arg, me, true);
    default:
        return true;
    }
}

/* A message that arrives exactly at the limit is received or not. */
static bool came_before(const struct rank *r, uint64_t ms)
{
    int at = r->op.arg, n = pc_meet_gathers(at) ? w.x->n_ranks : 1;
    for (int i = 0; i < n; i++)
        if (w.rank[i].word_at_ms[at] >= ms)
            return false;
    return is_complete(r, at);
}

static bool can_time_out(const struct rank *r)
{
    return !r->done && !r->killed && r->ready_ms <= w.now_ms && r->has_deadline &&
           r->deadline_ms <= w.now_ms && !came_before(r, r->deadline_ms);
}

static void sooner(uint64_t at_ms, uint64_t *next)
{
    if (at_ms > w.now_ms && at_ms < *next)
        *next = at_ms;
}

/* Nothing can happen now: the clock advances to the next event. */
static bool pass_time(void)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < w.x->n_ranks; i++) {
        const struct rank *r = &w.rank[i];
        for (int at = 0; at < PC_MEET_STEPS; at++)
            if (r->begun[at])
                sooner(r->word_at_ms[at], &next);
        if (r->done || r->killed)
            continue;
        sooner(r->ready_ms, &next);
        if (r->has_deadline)
            sooner(r->deadline_ms, &next);
    }
    if (next == UINT64_MAX)
        return false;
    w.now_ms = next;
    return true;
}

/* The process is stopped: its waits do not reach their limits in this time. */
static void stop(struct rank *r)
{
    uint64_t ms = r->op.kind == BEGIN && r->op.arg == PC_MEET_DECISION ? STOP_WORDS_MS : STOP_MS;
    w.n_stops++;
    r->ready_ms = w.now_ms + ms;
    r->deadline_ms += ms;
    r->history = mix(r->history, ms);
}

struct event {
    int rank;
    enum { STEPS, TIMES_OUT, IS_KILLED, IS_STOPPED, IS_RECOVERED } what; /* a node */
};

/* ---- Recovery ------------------------------------------------------------------------------- */

/* Does nothing while a process of the job lives. */
static bool can_recover(int node)
{
    for (int i = 0; i < w.x->n_ranks; i++)
        if (w.x->node[i] == node && w.x->kind[i] < FOREIGN && !w.rank[i].done)
            return false;
    return w.x->recovers && arenas_of(node);
}

/* Runs to its end in the first run, whose number of steps gives the places at which it can be
 * killed in others. */
static void recover(int node)
{
    unsigned ranks = arenas_of(node), marked = 0, place = w.of.depth, n_effects = 0;
    bool can_be_killed = w.n_killed_recoveries < w.x->n_killed_recoveries;
    unsigned at = can_be_killed ? choose(2) : 0;
    for (int i = 0; i < w.x->n_ranks; i++)
        marked |= (unsigned)w.rank[i].marked << i;
    unsigned left = w.files->recover(ranks, marked, at, &n_effects);
    if (can_be_killed && !at)
        w.of.n_of[place] = n_effects + 1;
    if (can_be_killed)
        snprintf(w.of.told[place], sizeof w.of.told[0], at ? "killed at %u" : "whole (%u)",
                 at ? at : n_effects);
    w.n_killed_recoveries += at != 0;
    w.n_recoveries++;
    w.out->n_recoveries++;
    for (int i = 0; i < w.x->n_ranks; i++) {
        if (!(ranks >> i & 1) || left >> i & 1)
            continue;
        w.rank[i].has_arena = false;
        if (!w.files->is_whole(i))
            wrong("recovery has removed the arena of rank %d, and no whole profile holds it", i);
    }
    if (left && !at)
        wrong("recovery has left arenas (ranks %x)", left);
}

static unsigned list_events(struct event *list)
{
    unsigned n = 0;
    bool first = true;
    for (int i = 0; i < w.x->n_ranks; i++) {
        const struct rank *r = &w.rank[i];
        bool goes = can_go(r), times_out = can_time_out(r);
        bool in_all_orders = w.x->all_orders || r->op.kind == LATE; /* they see each other */
        if ((!goes && !times_out) || (!first && !in_all_orders && !times_out))
            continue;
        if (goes && (first || in_all_orders)) {
            list[n++] = (struct event){i, STEPS};
            first = false;
        }
        if (times_out)
            list[n++] = (struct event){i, TIMES_OUT};
        if (w.n_kills < w.x->n_kills)
            list[n++] = (struct event){i, IS_KILLED};
        if (w.n_stops < w.x->n_stops && !r->joined)
            list[n++] = (struct event){i, IS_STOPPED};
    }
    for (int node = 0; n && node < w.x->n_ranks; node++)
        if (can_recover(node))
            list[n++] = (struct event){node, IS_RECOVERED};
    return n;
}

static void happen(const struct event *e)
{
    static const char *const whats[] = {"goes", "times out", "is killed", "stops"};
    struct rank *r = &w.rank[e->rank];
    if (e->what == IS_RECOVERED) {
        snprintf(w.of.told[w.of.depth - 1], sizeof w.of.told[0], "node %d is recovered", e->rank);
        recover(e->rank);
        return;
    }
    snprintf(w.of.told[w.of.depth - 1], sizeof w.of.told[0], "%d %s (%s %d)", e->rank,
             whats[e->what], op_names[r->op.kind], r->op.arg);
    w.n_kills += e->what == IS_KILLED;
    if (e->what == IS_STOPPED)
        stop(r);
    else
        resume(r, e->what == STEPS ? GO : e->what == TIMES_OUT ? TIMED_OUT : KILLED);
}

static void schedule(void)
{
    struct event list[5 * EXPLORED_RANKS];
    while (!w.cut && !w.out->wrong[0]) {
        unsigned n = list_events(list);
        if (!n) {
            if (!pass_time())
                return;
            continue;
        }
        /* The last choice of a prefix is new, and leads to what may have been seen. */
        if (w.of.depth >= w.of.prefix && !choices_is_new(&w.of, state_now())) {
            w.cut = true;
            return;
        }
        happen(&list[choose(n)]);
    }
}

/* The job has ended: its launcher has killed the ranks that waited for the dead. */
static void recover_all(void)
{
    for (int i = 0; i < w.x->n_ranks; i++)
        if (!w.rank[i].done)
            resume(&w.rank[i], KILLED);
    for (bool any = true; any && !w.out->wrong[0];) {
        struct event list[EXPLORED_RANKS];
        unsigned n = 0;
        if (w.of.depth >= w.of.prefix && !choices_is_new(&w.of, mix(files_now(), 1))) {
            w.cut = true;
            return;
        }
        for (int node = 0; node < w.x->n_ranks; node++)
            if (can_recover(node))
                list[n++] = (struct event){node, IS_RECOVERED};
        any = n > 0;
        if (any)
            happen(&list[choose(n)]);
    }
    for (int i = 0; i < w.x->n_ranks; i++)
        if (w.x->kind[i] == MEASURED && !w.files->is_whole(i))
            wrong("rank %d is in no profile after all recoveries", i);
    if (w.files->n_profiles() > 1)
        wrong("%u profiles are left of one job", w.files->n_profiles());
}

/* ---- Conditions ----------------------------------------------------------------------------- */

/* True if a rank that makes no progress waits, directly or through others, for one that was killed:
 * its launcher ends the job, as it does without the library. */
static bool waits_for_dead(const struct rank *r, unsigned met)
{
    if (r->killed)
        return true;
    if (r->done || met >> r->transport.rank & 1)
        return false;
    met |= 1u << r->transport.rank;
    for (int i = 0; i < w.x->n_ranks; i++) {
        const struct rank *other = &w.rank[i];
        bool wanted = r->op.kind == JOIN ? !other->joined
                      : r->op.kind == AWAIT
                          ? (pc_meet_gathers(r->op.arg) || i == 0) && !has_come(i, r->op.arg)
                          : i == r->op.arg;
        if (wanted && other != r && waits_for_dead(other, met))
            return true;
    }
    return false;
}

static uint64_t last_arrival(void)
{
    uint64_t last = 0;
    for (int i = 0; i < w.x->n_ranks; i++)
        if (w.x->kind[i] != FOREIGN && w.rank[i].arrival_ms > last)
            last = w.rank[i].arrival_ms;
    return last;
}

static void check_wait(const struct rank *r)
{
    int limit_ms = w.x->limit_ms[r->transport.rank];
    uint64_t from = limit_ms < 0 ? last_arrival() : r->arrival_ms;
    uint64_t waited = r->end_ms > from ? r->end_ms - from : 0;
    uint64_t most = (uint64_t)(limit_ms < 0 ? 0 : limit_ms) + PC_MEET_VOTE_MS + PC_MEET_ANSWER_MS +
                    (uint64_t)w.n_stops * STOP_MS + (uint64_t)w.n_slow * SLOW_MS + 1000 +
                    (some_left(false) ? PC_MEET_LOOKS_MS + LEFT_MS : 0);
    if (waited > w.out->longest_wait_ms)
        w.out->longest_wait_ms = waited;
    if (waited > most)
        wrong("rank %d has waited for %lu ms, with a limit of %d", r->transport.rank,
              (unsigned long)waited, limit_ms);
}

static void check_words(void)
{
    unsigned n_tell = 0, n_merged = 0;
    for (int i = 0; i < w.x->n_ranks; i++) {
        n_tell += w.rank[i].tells && w.rank[i].end != PC_END_MERGED;
        n_merged += w.x->kind[i] < FOREIGN && w.rank[i].end == PC_END_MERGED;
    }
    w.out->n_profiles += w.has_profile;
    if (w.n_kills || w.n_stops || w.n_slow)
        return;
    /* A rank that cannot tell the others that it tells is not the only one. */
    if (some_left(false) && !w.has_profile ? !n_tell : n_tell != !w.has_profile)
        wrong("%u ranks say that there is no profile; there is %s", n_tell,
              w.has_profile ? "one" : "none");
    if (n_merged && !w.has_profile)
        wrong("%u ranks take the job for merged", n_merged);
}

/* If the last of a node was killed, the actions of the others at their exit are lost with it. */
static void check_late(void)
{
    const struct rank *last[EXPLORED_RANKS] = {NULL};
    for (int i = 0; i < w.x->n_ranks; i++)
        if (!last[w.x->node[i]] || w.rank[i].late_at > last[w.x->node[i]]->late_at)
            last[w.x->node[i]] = &w.rank[i];
    for (int i = 0; i < w.x->n_ranks; i++) {
        const struct rank *r = &w.rank[i];
        unsigned told = r->late == 2 ? w.files->told_late(i) : 2;
        if (told < 2 && !(told && last[w.x->node[i]]->killed))
            wrong("the profile lacks what rank %d did after %s", i,
                  told ? "MPI_Finalize" : "the merge");
    }
}

static void check(void)
{
    bool stuck = false;
    for (int i = 0; i < w.x->n_ranks && !w.out->wrong[0]; i++) {
        const struct rank *r = &w.rank[i];
        if (r->killed || w.x->kind[i] >= FOREIGN)
            continue;
        stuck |= !r->done;
        if (!r->done && !waits_for_dead(r, 0))
            wrong("rank %d waits for ever (%s %d)", i, op_names[r->op.kind], r->op.arg);
        else if (r->done)
            check_wait(r);
        if (w.x->kind[i] == MEASURED && !r->has_arena && !w.files->is_whole(i))
            wrong("what rank %d has collected is lost", i);
    }
    if (!stuck && !w.out->wrong[0])
        check_words();
    if (!w.out->wrong[0])
        check_late();
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static void begin_rank(int i)
{
    struct rank *r = &w.rank[i];
    unsigned k = w.x->n_arrivals > 1 ? choose(w.x->n_arrivals) : 0;
    *r = (struct rank){.has_arena = w.x->kind[i] == MEASURED};
    r->transport = (struct pc_transport){.self = r,
                                         .rank = i,
                                         .n_ranks = w.x->n_ranks,
                                         .begin = t_begin,
                                         .await = t_await,
                                         .word = t_word,
                                         .with_word = t_with_word,
                                         .now_ms = t_now_ms,
                                         .join = t_join,
                                         .send = t_send,
                                         .receive_size = t_size,
                                         .receive = t_receive,
                                         .broadcast = t_broadcast};
    r->arrival_ms = r->ready_ms = w.x->n_arrivals ? w.x->arrivals_ms[k] : 0;
    r->end = PC_END_UNMET;
    if (w.x->n_arrivals > 1)
        snprintf(w.of.told[w.of.depth - 1], sizeof w.of.told[0], "%d comes at %lu ms", i,
                 (unsigned long)r->arrival_ms);
    if (w.x->kind[i] >= FOREIGN) {
        r->done = true;
        return;
    }
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = stacks[i];
    r->context.uc_stack.ss_size = STACK_BYTES;
    r->context.uc_link = &w.scheduler;
    makecontext(&r->context, live, 0);
    resume(r, GO); /* to its first step */
}

static void run(void)
{
    w.now_ms = 0;
    w.of.depth = w.n_late = w.n_kills = w.n_stops = w.n_slow = w.n_recoveries =
        w.n_killed_recoveries = 0;
    w.cut = w.has_profile = false;
    w.files->begin();
    for (int i = 0; i < w.x->n_ranks; i++)
        begin_rank(i);
    schedule();
    if (!w.cut && !w.out->wrong[0])
        check();
    if (w.x->recovers && !w.cut && !w.out->wrong[0])
        recover_all();
    /* The rest unwinds, without an effect. */
    unsigned depth = w.of.depth;
    for (int i = 0; i < w.x->n_ranks; i++)
        if (!w.rank[i].done)
            resume(&w.rank[i], KILLED);
    w.of.depth = depth;
    while (w.letters)
        letters_receive(&w.letters, NULL, 0);
    w.out->n_runs++;
}

bool explored_lives(int rank)
{
    return !w.rank[rank].killed && !w.rank[rank].done;
}

void explore(const struct exploration *x, const struct explored_files *files, struct explored *out)
{
    *out = (struct explored){0};
    w.x = x;
    w.files = files;
    w.out = out;
    choices_clear(&w.of);
    do
        run();
    while (!out->wrong[0] && choices_go_back(&w.of));
    out->n_states = w.of.n_seen;
    choices_clear(&w.of);
}
