/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Views: counters of another thread and of the threads and processes that it starts, or of a
 * processor.
 *
 * The kernel cannot read a whole group of inherited counters at once: each is read by itself, and
 * the kernel adds the counts of ended threads. The id of a descriptor is checked before it is used,
 * as that of a meter's is (meter_async.c).
 */
#include "counting/counting_private.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_COUNTERS = PC_COUNTING_MAX_GROUPS * PC_COUNTING_MAX_MEMBERS };

struct counter {
    int fd;
    uint64_t id; /* of the event that was opened */
    int32_t sign;
    uint32_t group, event;
    bool anchor;
};

struct pc_counting_view {
    uint32_t switched_on; /* the group that counts */
    uint32_t n_groups, n;
    uint32_t leaders[PC_COUNTING_MAX_GROUPS]; /* places in counters */
    struct counter counters[MOST_COUNTERS];
};

/* Layout of what read(2) gives for one counter. */
struct reading {
    uint64_t value, enabled_ns, running_ns;
};

/* Fills in the descriptor and the id. Returns 0 or a negative errno. */
static int open_counter(const struct pc_counting_term *term, const struct pc_counting_viewee *who,
                        int leader, struct counter *c)
{
    struct perf_event_attr a;
    pc_counting_attributes(term, &a);
    a.disabled = leader < 0;
    a.enable_on_exec = leader < 0 && who->from_exec && !c->group;
    a.inherit = who->tid >= 0;
    c->fd = (int)syscall(SYS_perf_event_open, &a, who->tid, who->cpu, leader, PERF_FLAG_FD_CLOEXEC);
    if (c->fd < 0)
        return -errno;
    int err = ioctl(c->fd, PERF_EVENT_IOC_ID, &c->id) ? -errno : 0;
    if (err)
        pc_file_close(c->fd);
    return err;
}

/* Returns 0 or a negative errno. */
static int open_group(struct pc_counting_view *v, const struct pc_counting_group *group,
                      uint32_t n_anchors, const struct pc_counting_viewee *who)
{
    uint32_t g = v->n_groups++;
    v->leaders[g] = v->n;
    for (uint32_t i = 0; i < group->n_members; i++) {
        const struct pc_counting_term *term = &group->members[i].term;
        struct counter *c = &v->counters[v->n];
        *c = (struct counter){.sign = term->sign,
                              .group = g,
                              .event = group->members[i].event,
                              .anchor = i < n_anchors};
        int err = open_counter(term, who, i ? v->counters[v->leaders[g]].fd : -1, c);
        if (err)
            return err;
        v->n++;
    }
    return 0;
}

/* Explains a refusal. Processes of other users are protected as for ptrace(2); the errno does not
 * show whether this or the paranoid level is the reason. */
static int explain(int error_number, const struct pc_counting_viewee *who, struct pc_error *error)
{
    char path[64];
    struct stat st;
    if (error_number == ESRCH)
        return pc_error_set(error, PC_ENOENT, "%d: there is no such %s", who->tid,
                            who->from_exec ? "process" : "thread");
    pc_format(path, sizeof path, "/sys/devices/system/cpu/cpu%d", who->cpu);
    if (who->tid < 0 && (error_number == ENODEV || stat(path, &st)))
        return pc_error_set(error, PC_EIO,
                            "%d: there is no such processor, or it is off; "
                            "/sys/devices/system/cpu/online lists those that can be counted",
                            who->cpu);
    pc_format(path, sizeof path, "/proc/%d", who->tid);
    if ((error_number == EACCES || error_number == EPERM) && who->tid > 0 && stat(path, &st) == 0 &&
        geteuid() != 0 && st.st_uid != geteuid())
        return pc_error_set(error, PC_EIO,
                            "%d belongs to another user; its owner, or an administrator with "
                            "CAP_PERFMON and CAP_SYS_PTRACE, may count it",
                            who->tid);
    if (error_number == EACCES && who->tid < 0)
        return pc_counting_refused("only administrators count a whole processor", 0, error);
    return pc_counting_explain(error_number, error);
}

int pc_counting_view_open(struct pc_counting *c, const struct pc_counting_viewee *who,
                          struct pc_counting_view **out, struct pc_error *error)
{
    struct pc_counting_view *v = pc_map_memory(NULL, sizeof *v);
    int err = 0;
    if (!v)
        return pc_error_set(error, PC_ENOMEM, "not enough memory for counting");
    v->switched_on = who->from_exec ? 0 : PC_COUNTING_NO_GROUP;
    pc_counting_lock();
    struct pc_counting_program *p = c->program;
    atomic_fetch_add(&p->n_users, 1);
    pc_counting_unlock();
    for (uint32_t g = 0; g < p->n_groups && !err; g++)
        err = open_group(v, &p->groups[g], p->n_anchors, who);
    pc_counting_release(p);
    if (err) {
        pc_counting_view_close(v);
        return explain(-err, who, error);
    }
    *out = v;
    return PC_OK;
}

/* False: it failed, or the descriptor is not ours any more. */
static bool control(const struct counter *leader, unsigned long request)
{
    return pc_counting_is_event(leader->fd, leader->id) && !ioctl(leader->fd, request, 0);
}

int pc_counting_view_switch(struct pc_counting_view *v, uint32_t group)
{
    bool done = true;
    if (v->switched_on == group)
        return PC_OK;
    if (v->switched_on < v->n_groups)
        done = control(&v->counters[v->leaders[v->switched_on]], PERF_EVENT_IOC_DISABLE);
    if (group < v->n_groups)
        done &= control(&v->counters[v->leaders[group]], PERF_EVENT_IOC_ENABLE);
    if (!done)
        return PC_EIO;
    v->switched_on = group;
    return PC_OK;
}

int pc_counting_view_get(const struct pc_counting_view *v, uint32_t group,
                         struct pc_counting_values *out)
{
    struct pc_counting_values values = {.group = group};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct counter *c = &v->counters[i];
        struct reading r;
        if (c->group != group)
            continue;
        if (!pc_counting_is_event(c->fd, c->id) ||
            pc_file_read(c->fd, &r, sizeof r) != (ssize_t)sizeof r)
            return PC_EIO;
        if (i == v->leaders[group]) {
            values.enabled_ns = r.enabled_ns;
            values.running_ns = r.running_ns;
        }
        if (c->anchor) {
            values.anchor = r.value;
        } else {
            values.value[c->event] += c->sign < 0 ? -r.value : r.value;
            values.held |= 1ull << c->event;
        }
    }
    *out = values;
    return PC_OK;
}

void pc_counting_view_close(struct pc_counting_view *v)
{
    for (uint32_t i = v->n; i-- > 0;)
        if (pc_counting_is_event(v->counters[i].fd, v->counters[i].id))
            pc_file_close(v->counters[i].fd);
    munmap(v, sizeof *v);
}
