/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations on an open meter: switch, pause, read. They only make system calls: no memory, no
 * lock. The id of a descriptor is checked before it is read: the program may have closed it and
 * opened its own file with this number.
 *
 * Every function of this file may run in a signal handler.
 */
#include "counting/counting_private.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pc_counting_is_event(int fd, uint64_t id)
{
    uint64_t found;
    return !syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &found) && found == id;
}

bool pc_counting_is_ours(const struct pc_counting_open *open, uint32_t member)
{
    return member < open->n && pc_counting_is_event(open->fds[member], open->ids[member]);
}

bool pc_counting_read(const struct pc_counting_open *open, struct pc_counting_reading *out)
{
    long bytes = (long)((3 + open->n) * sizeof(uint64_t));
    return pc_counting_is_ours(open, 0) &&
           syscall(SYS_read, open->fds[0], out, sizeof *out) == bytes;
}

void pc_counting_pause(struct pc_counting_meter *meter)
{
    int saved = errno;
    if (meter->running)
        syscall(SYS_ioctl, meter->open[meter->group].fds[0], PERF_EVENT_IOC_DISABLE, 0);
    meter->running = false;
    errno = saved;
}

int pc_counting_switch(struct pc_counting_meter *meter, uint32_t group)
{
    if (group >= PC_COUNTING_MAX_GROUPS || !(meter->groups >> group & 1))
        return PC_ENOENT;
    if (meter->running && meter->group == group)
        return PC_OK;
    int saved = errno, err = PC_EIO;
    pc_counting_pause(meter);
    if (pc_counting_is_ours(&meter->open[group], 0) &&
        !syscall(SYS_ioctl, meter->open[group].fds[0], PERF_EVENT_IOC_ENABLE, 0)) {
        meter->group = group;
        meter->running = true;
        err = PC_OK;
    }
    errno = saved;
    return err;
}

int pc_counting_get(struct pc_counting_meter *meter, struct pc_counting_values *out)
{
    struct pc_counting_reading r;
    int saved = errno;
    bool read = pc_counting_read(&meter->open[meter->group], &r);
    errno = saved;
    if (!read)
        return PC_EIO;
    const struct pc_counting_group *group = &meter->program->groups[meter->group];
    out->group = meter->group;
    out->held = group->events;
    out->anchor = r.value[0];
    out->enabled_ns = r.enabled_ns;
    out->running_ns = r.running_ns;
    for (uint32_t i = 1; i < group->n_members; i++)
        out->value[group->members[i].event] = 0;
    for (uint32_t i = 1; i < group->n_members; i++)
        out->value[group->members[i].event] += (uint64_t)group->members[i].term.sign * r.value[i];
    return PC_OK;
}

uint32_t pc_counting_groups(const struct pc_counting_meter *meter)
{
    return meter->groups;
}
