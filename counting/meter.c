/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Meters: opened at a thread's start, added to the totals of their counting when they stop, change
 * to another one or are opened anew. Running meters are in one list, stopped ones in another, from
 * which the next thread takes one: a program that makes a hundred thousand threads one after the
 * other needs memory only for those that run at once.
 *
 * The lock is held while the lists, a meter's descriptors or a counting's totals change. Meanwhile
 * a handler in the meter's own thread may switch the meter: it reads `groups`, which is cleared
 * before the descriptors are changed and set afterwards.
 */
#include "counting/counting_private.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pc_counting_meter *counting, *stopped;
static _Atomic uint32_t n_started;

void pc_counting_lock(void)
{
    pthread_mutex_lock(&lock);
}

void pc_counting_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- Totals ---------------------------------------------------------------------------------- */

/* Adds what a group has counted since it was last noted. */
static void add_group(const struct pc_counting_meter *r, uint32_t g,
                      const struct pc_counting_reading *now, struct pc_counting_totals *totals)
{
    const struct pc_counting_group *group = &r->program->groups[g];
    const struct pc_counting_open *open = &r->open[g];
    totals->held |= group->events;
    totals->anchor[g] += now->value[0] - open->noted[0];
    totals->running_ns[g] += now->running_ns - open->noted_ns;
    totals->missed_ns[g] += now->enabled_ns - now->running_ns - open->noted_missed_ns;
    for (uint32_t i = 1; i < group->n_members; i++)
        totals->value[group->members[i].event] +=
            (uint64_t)group->members[i].term.sign * (now->value[i] - open->noted[i]);
}

/* Adds the meter's counts to its counting, if that has not been changed. The lock is held. */
static void settle(struct pc_counting_meter *r)
{
    struct pc_counting *c = r->counting;
    bool unread = false;
    for (uint32_t g = 0; g < PC_COUNTING_MAX_GROUPS; g++) {
        struct pc_counting_reading now;
        if (!(r->groups >> g & 1))
            continue;
        if (!pc_counting_read(&r->open[g], &now)) {
            unread = true;
            continue;
        }
        if (c->program == r->program)
            add_group(r, g, &now, &c->ended);
        memcpy(r->open[g].noted, now.value, sizeof now.value);
        r->open[g].noted_ns = now.running_ns;
        r->open[g].noted_missed_ns = now.enabled_ns - now.running_ns;
    }
    c->ended.n_unread += unread && c->program == r->program;
}

void pc_counting_dump(struct pc_counting *c, struct pc_counting_totals *out)
{
    int saved = errno;
    pc_counting_lock();
    *out = c->ended;
    for (const struct pc_counting_meter *r = counting; r; r = r->next) {
        if (r->counting != c || r->program != c->program)
            continue;
        bool unread = false;
        out->n_live += r->groups != 0;
        for (uint32_t g = 0; g < PC_COUNTING_MAX_GROUPS; g++) {
            struct pc_counting_reading now;
            if (!(r->groups >> g & 1))
                continue;
            if (pc_counting_read(&r->open[g], &now))
                add_group(r, g, &now, out);
            else
                unread = true;
        }
        out->n_unread += unread;
    }
    pc_counting_unlock();
    errno = saved;
}

int pc_counting_get_of(struct pc_counting *c, struct pc_counting_meter *meter,
                       struct pc_counting_values *out)
{
    pc_counting_lock();
    bool counts = meter->counting == c && meter->program;
    int err = counts ? pc_counting_get(meter, out) : PC_EIO;
    pc_counting_unlock();
    return err;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void close_all(struct pc_counting_meter *r)
{
    uint32_t groups = r->groups;
    pc_counting_pause(r);
    r->groups = 0;
    atomic_signal_fence(memory_order_seq_cst);
    for (uint32_t g = 0; g < PC_COUNTING_MAX_GROUPS; g++)
        if (groups >> g & 1) {
            pc_counting_give(r->open[g].n);
            pc_counting_close_group(&r->open[g]);
        }
}

static int open_one(struct pc_counting_meter *r, uint32_t g)
{
    const struct pc_counting_group *group = &r->program->groups[g];
    if (!pc_counting_take(group->n_members))
        return -EMFILE;
    int err = pc_counting_open_group(group, &r->open[g]);
    if (err) {
        pc_counting_give(group->n_members);
        return err;
    }
    atomic_signal_fence(memory_order_seq_cst);
    r->groups |= 1u << g;
    return 0;
}

/* Opens all groups, or some if descriptors are scarce: a thread takes an eighth of those left, but
 * at least one group if possible, and each thread begins with another group. */
static int open_all(struct pc_counting_meter *r, struct pc_error *error)
{
    uint32_t n = r->program->n_groups, first = atomic_fetch_add(&n_started, 1) % n;
    uint32_t share = pc_counting_left() / 8, taken = 0;
    int err = 0, why = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = (first + i) % n, members = r->program->groups[g].n_members;
        err = r->groups && taken + members > share ? -EMFILE : open_one(r, g);
        taken += err ? 0 : members;
        why = err ? err : why;
    }
    return r->groups ? PC_OK : pc_counting_explain(-why, error);
}

/* ---- Meters ---------------------------------------------------------------------------------- */

static struct pc_counting_meter *take_meter(void)
{
    struct pc_counting_meter *r = stopped;
    if (r) {
        stopped = r->next;
    } else {
        r = pc_map_memory(NULL, sizeof *r);
    }
    if (!r)
        return NULL;
    memset(r, 0, sizeof *r);
    r->next = counting;
    if (counting)
        counting->previous = r;
    counting = r;
    return r;
}

static void leave_lists(struct pc_counting_meter *r)
{
    if (r->previous)
        r->previous->next = r->next;
    else
        counting = r->next;
    if (r->next)
        r->next->previous = r->previous;
    r->previous = NULL;
    r->counting = NULL;
    r->next = stopped;
    stopped = r;
}

/* Attaches the meter to the counting and its program. On failure it has no program, so that the
 * next start tries again. The lock is held. */
static int adopt(struct pc_counting_meter *r, struct pc_counting *c, struct pc_error *error)
{
    if (r->counting)
        settle(r);
    r->counting = c;
    if (r->program == c->program)
        return PC_OK;
    close_all(r);
    pc_counting_release(r->program);
    r->program = c->program;
    atomic_fetch_add(&r->program->n_users, 1);
    int err = r->program->n_anchors
                  ? open_all(r, error)
                  : pc_error_set(error, PC_EARG,
                                 "these events count other processes only, not threads of this "
                                 "one");
    if (err) {
        pc_counting_release(r->program);
        r->program = NULL;
    }
    return err;
}

/* The group, or the next one that the meter has open. */
static uint32_t nearest_group(const struct pc_counting_meter *r, uint32_t group)
{
    for (uint32_t i = 0; i < r->program->n_groups; i++) {
        uint32_t g = (group + i) % r->program->n_groups;
        if (r->groups >> g & 1)
            return g;
    }
    return PC_COUNTING_NO_GROUP;
}

int pc_counting_start(struct pc_counting *c, struct pc_counting_meter **meter, uint32_t group,
                      struct pc_error *error)
{
    struct pc_counting_meter *r = *meter;
    int saved = errno, err = PC_OK;
    if (!r || r->counting != c || !r->program || r->program->id != pc_counting_id(c)) {
        pc_counting_lock();
        r = r ? r : take_meter();
        err = r ? adopt(r, c, error)
                : pc_error_set(error, PC_ENOMEM, "not enough memory for counting");
        pc_counting_unlock();
    }
    if (!err && pc_counting_switch(r, nearest_group(r, group)))
        err = pc_error_set(error, PC_EIO, "none of its descriptors is open");
    if (err && r && !*meter)
        pc_counting_stop(r);
    else
        *meter = r;
    errno = saved;
    return err;
}

void pc_counting_stop(struct pc_counting_meter *meter)
{
    int saved = errno;
    pc_counting_pause(meter);
    pc_counting_lock();
    settle(meter);
    if (meter->groups && meter->counting->program == meter->program)
        meter->counting->ended.n_ended++;
    close_all(meter);
    pc_counting_release(meter->program);
    meter->program = NULL;
    leave_lists(meter);
    pc_counting_unlock();
    errno = saved;
}

static void forget(struct pc_counting_meter *r)
{
    for (uint32_t g = 0; g < PC_COUNTING_MAX_GROUPS; g++)
        for (uint32_t i = 0; i < r->open[g].n; i++)
            if (pc_counting_is_ours(&r->open[g], i))
                syscall(SYS_close, r->open[g].fds[i]);
    r->groups = 0;
    r->running = false;
}

/* Takes no lock: the thread that held it in the parent is not there. A meter is never freed, so the
 * list leads to meters even if that thread was changing it. */
void pc_counting_forget(void)
{
    int saved = errno;
    for (struct pc_counting_meter *r = counting; r; r = r->next)
        forget(r);
    errno = saved;
}
