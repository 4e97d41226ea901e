/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens events, explains refusals, limits and places descriptors, and finds the events that fit
 * into one group. Nothing here knows of countings and meters.
 */
#include "counting/counting_private.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

static _Atomic uint32_t n_taken;

/* ---- The number of descriptors -------------------------------------------------------------- */

/* Counting uses at most 1/4 of the descriptors (base/descriptor.c). The limit is read each time,
 * because the program may change it. */
enum { PART = 4 };

bool pc_counting_take(uint32_t n)
{
    uint32_t most = pc_descriptors_most(PART), taken = atomic_load(&n_taken);
    do {
        if (taken + n > most)
            return false;
    } while (!atomic_compare_exchange_weak(&n_taken, &taken, taken + n));
    return true;
}

void pc_counting_give(uint32_t n)
{
    atomic_fetch_sub(&n_taken, n);
}

uint32_t pc_counting_left(void)
{
    uint32_t most = pc_descriptors_most(PART), taken = atomic_load(&n_taken);
    return taken < most ? most - taken : 0;
}

/* ---- One counter ----------------------------------------------------------------------------- */

void pc_counting_attributes(const struct pc_counting_term *term, struct perf_event_attr *out)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->type = term->type;
    out->config = term->config;
    out->config1 = term->config1;
    out->config2 = term->config2;
    out->exclude_kernel = term->user_only != 0;
    out->exclude_user = term->kernel_only != 0;
    out->exclude_hv = !term->one_side;
    out->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

static int open_term(const struct pc_counting_term *term, int leader, bool pinned)
{
    struct perf_event_attr a;
    pc_counting_attributes(term, &a);
    a.disabled = leader < 0;
    a.pinned = pinned;
    a.read_format |= PERF_FORMAT_GROUP;
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    fd = pc_descriptor_away(fd);
    return fd < 0 ? -errno : fd;
}

/* True for events that happen in the kernel, such as context switches: without the kernel's side
 * they stay at 0. */
static bool is_of_kernel(const struct pc_counting_term *term)
{
    return term->type == PERF_TYPE_SOFTWARE && (term->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                                term->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
                                                term->config == PC_COUNTING_CGROUP_SWITCHES);
}

/* Opens a leader, without the kernel's side if that is not allowed. */
static int open_leader(struct pc_counting_term *term)
{
    int fd = open_term(term, -1, false);
    if (fd == -EINVAL && !term->user_only && !term->kernel_only && !term->one_side) {
        term->one_side = 1;
        fd = open_term(term, -1, false);
        term->one_side = fd >= 0;
    }
    if ((fd != -EACCES && fd != -EPERM) || term->user_only || term->kernel_only ||
        is_of_kernel(term))
        return fd;
    term->user_only = 1;
    int user_fd = open_term(term, -1, false);
    term->user_only = user_fd >= 0;
    /* A PMU that cannot leave out the kernel's side refuses that as invalid, which is not why it is
     * not counted. */
    return user_fd == -EINVAL ? fd : user_fd;
}

/* ---- Reasons --------------------------------------------------------------------------------- */

struct pc_counting_paranoid pc_counting_paranoid(void)
{
    char text[16], *end;
    struct pc_counting_paranoid p = {.text = "cannot be read"};
    pc_read_small("/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    long level = strtol(text, &end, 10);
    if (end == text)
        return p;
    p.known = true;
    p.level = (int)level;
    pc_format(p.text, sizeof p.text, "is %d", p.level);
    return p;
}

static bool is_virtual(void)
{
#if defined __x86_64__ || defined __i386__
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
#else
    return false;
#endif
}

int pc_counting_refused(const char *allowed, int level, struct pc_error *error)
{
    /* Levels above 2 are Debian's and Ubuntu's, and Debian's kernel asks for CAP_SYS_ADMIN there
     * (6.1). */
    struct pc_counting_paranoid now = pc_counting_paranoid();
    return pc_error_set(error, PC_EIO,
                        "the kernel lets %s: kernel.perf_event_paranoid %s; %s is needed, or "
                        "the administrator's `sysctl kernel.perf_event_paranoid=%d`",
                        allowed, now.text, now.level > 2 ? "CAP_SYS_ADMIN" : "CAP_PERFMON", level);
}

/* Explains a refusal. The kernel itself returns EACCES, by the process's capabilities and the
 * paranoid level. Seccomp filters and security modules usually return EPERM. */
static int explain_refusal(int error_number, struct pc_error *error)
{
    struct pc_counting_paranoid now = pc_counting_paranoid();
    if (error_number == EACCES && now.level > 2)
        return pc_counting_refused("only administrators count", 2, error);
    if (error_number == EACCES && now.level == 2)
        return pc_counting_refused("users count their own code only", 1, error);
    return pc_error_set(error, PC_EIO,
                        "perf_event_open is forbidden here, %s kernel.perf_event_paranoid %s (a "
                        "container's seccomp filter or a security module)",
                        now.known ? "though" : "and", now.known ? "allows it" : now.text);
}

int pc_counting_explain(int error_number, struct pc_error *error)
{
    switch (error_number) {
    case EACCES:
    case EPERM:
        return explain_refusal(error_number, error);
    case ENOSYS:
        return pc_error_set(error, PC_EIO, "this kernel has no perf_event_open");
    case EMFILE:
    case ENFILE:
        return pc_error_set(error, PC_EIO,
                            "the limit of open files is too low; raise it (ulimit -n)");
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return pc_error_set(error, PC_EIO, "%s",
                            is_virtual()
                                ? "this virtual machine does not show the counter"
                                : "the processor does not have the counter, or the kernel no "
                                  "driver for it");
    case EBUSY:
        return pc_error_set(error, PC_EIO, "another program has the counter for itself");
    default:
        return pc_error_set(error, PC_EIO, "the kernel refuses it (errno %d)", error_number);
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

void pc_counting_close_group(struct pc_counting_open *open)
{
    for (uint32_t i = open->n; i-- > 0;)
        if (pc_counting_is_ours(open, i))
            pc_file_close(open->fds[i]);
    open->n = 0;
}

/* Takes over the descriptor, or the error that stands for one. */
static int add_member(struct pc_counting_open *open, int fd)
{
    if (fd < 0)
        return fd;
    int err = ioctl(fd, PERF_EVENT_IOC_ID, &open->ids[open->n]) ? -errno : 0;
    if (err)
        pc_file_close(fd);
    else
        open->fds[open->n++] = fd;
    return err;
}

int pc_counting_open_group(const struct pc_counting_group *group, struct pc_counting_open *open)
{
    memset(open, 0, sizeof *open);
    for (uint32_t i = 0; i < group->n_members; i++) {
        const struct pc_counting_term *term = &group->members[i].term;
        int err = add_member(open, open_term(term, i ? open->fds[0] : -1, !i && group->pinned));
        if (err < 0) {
            pc_counting_close_group(open);
            return err;
        }
    }
    return 0;
}

/* True if an open group counts when it is switched on: a group may open but never get its counters.
 * Leaves it switched off. */
static bool can_count(const struct pc_counting_open *open)
{
    enum { ENOUGH_NS = 20000, TRIES = 100000 };
    struct pc_counting_reading r = {.n = 0};
    if (ioctl(open->fds[0], PERF_EVENT_IOC_ENABLE, 0))
        return false;
    for (int i = 0; i < TRIES; i++)
        if (!pc_counting_read(open, &r) || r.running_ns || r.enabled_ns > ENOUGH_NS)
            break;
    ioctl(open->fds[0], PERF_EVENT_IOC_DISABLE, 0);
    return r.running_ns != 0;
}

/* Opens a term as a leader and checks that it counts; 0 or a negative errno. */
static int try_term(struct pc_counting_term *term)
{
    struct pc_counting_open open = {.n = 0};
    int err = add_member(&open, open_leader(term));
    if (!err && !can_count(&open))
        err = -EBUSY;
    pc_counting_close_group(&open);
    return err;
}

int pc_counting_try(struct pc_counting_event *event, struct pc_error *error)
{
    if (event->n_terms == 0 || event->n_terms > PC_COUNTING_MAX_TERMS)
        return pc_error_set(error, PC_EARG, "an event has 1 to %d counters", PC_COUNTING_MAX_TERMS);
    int saved = errno;
    int err = 0;
    for (uint32_t i = 0; !err && i < event->n_terms; i++)
        err = try_term(&event->terms[i]);
    errno = saved;
    return err ? pc_counting_explain(-err, error) : PC_OK;
}

int pc_counting_hardware(struct pc_error *error)
{
    struct pc_counting_event cycles = {
        .n_terms = 1,
        .terms = {{.type = PERF_TYPE_HARDWARE, .sign = 1, .config = PERF_COUNT_HW_CPU_CYCLES}}};
    return pc_counting_try(&cycles, error);
}

int pc_counting_find_anchor(struct pc_counting_term *out, struct pc_error *error)
{
    struct pc_counting_term term = {
        .type = PERF_TYPE_HARDWARE, .sign = 1, .config = PERF_COUNT_HW_CPU_CYCLES};
    int err = try_term(&term);
    if (err) {
        term = (struct pc_counting_term){
            .type = PERF_TYPE_SOFTWARE, .sign = 1, .config = PERF_COUNT_SW_TASK_CLOCK};
        err = try_term(&term);
    }
    if (err)
        return pc_counting_explain(-err, error);
    *out = term;
    return PC_OK;
}

/* ---- Events that fit into one group ---------------------------------------------------------- */

static void append(struct pc_counting_group *group, const struct pc_counting_event *event,
                   uint32_t number)
{
    for (uint32_t i = 0; i < event->n_terms; i++) {
        group->members[group->n_members].term = event->terms[i];
        group->members[group->n_members++].event = number;
    }
    group->events |= 1ull << number;
}

/* Adds the event if the group still opens and counts with it: 0, or a negative errno. */
static int try_in_group(const struct pc_counting_program *p, struct pc_counting_group *group,
                        const struct pc_counting_event *event, uint32_t number, uint32_t most)
{
    struct pc_counting_group wider = *group;
    struct pc_counting_open open;
    uint32_t n = group->n_members - p->n_anchors + event->n_terms;
    if (n >= PC_COUNTING_MAX_MEMBERS || (most && n > most && group->events))
        return -ENOSPC;
    append(&wider, event, number);
    int err = pc_counting_open_group(&wider, &open);
    if (err)
        return err;
    if (!can_count(&open))
        err = -EBUSY;
    pc_counting_close_group(&open);
    if (!err)
        *group = wider;
    return err;
}

static int place(struct pc_counting_program *p, const struct pc_counting_what *what, uint32_t e)
{
    int err = -ENOSPC;
    for (uint32_t g = 0; err && g < p->n_groups; g++)
        err = try_in_group(p, &p->groups[g], &what->events[e], e, what->per_group);
    if (!err || p->n_groups == PC_COUNTING_MAX_GROUPS)
        return err;
    struct pc_counting_group *fresh = &p->groups[p->n_groups];
    memset(fresh, 0, sizeof *fresh);
    fresh->members[0].term = p->anchor;
    fresh->n_members = p->n_anchors;
    fresh->pinned = what->pinned;
    err = try_in_group(p, fresh, &what->events[e], e, what->per_group);
    p->n_groups += !err;
    return err;
}

int pc_counting_fit(struct pc_counting_program *p, const struct pc_counting_what *what,
                    struct pc_error *error)
{
    p->groups[0].pinned = what->pinned;
    for (uint32_t e = 0; e < what->n_events; e++) {
        struct pc_error why;
        int err = place(p, what, e);
        if (!err)
            continue;
        pc_counting_explain(-err, &why);
        return pc_error_set(error, PC_EIO, "event %u: %s", e, why.text);
    }
    return PC_OK;
}
