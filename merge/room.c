/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is left to this process: see room.h. The kernel ends a process of a group that needs
 * more than the limit of the group, or of one above it, after it has dropped the group's pages of
 * files. So a group has left what its limit is above its use without these.
 */
#include "merge/room.h"

#include "base/base.h"
#include "include/pcollect/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Files of a group, in one version of cgroups. A container may see its own group as the topmost one
 * and be told another name: folders that are not there have no limit. */
struct kind {
    const char *top; /* folder of the topmost group */
    const char *limit, *used;
    const char *file_pages[2]; /* lines of memory.stat */
};

static const struct kind version_1 = {
    "/sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    {"\ntotal_inactive_file ", "\ntotal_active_file "},
};
static const struct kind version_2 = {
    "/sys/fs/cgroup",
    "memory.max", /* a number, or "max" */
    "memory.current",
    {"\ninactive_file ", "\nactive_file "},
};

/* The number behind `name` in a text, or UINT64_MAX. */
static uint64_t number_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    char *end;
    if (!at)
        return UINT64_MAX;
    uint64_t n = strtoull(at + strlen(name), &end, 10);
    return end > at + strlen(name) ? n : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static const char *read_file(const char *folder, const char *name, char *out, size_t n)
{
    char path[2 * PCOLLECT_PATH_BYTES];
    pc_format(path, sizeof path, "%s/%s", folder, name);
    pc_read_small(path, out, n);
    return out;
}

/* Bytes that the group of that folder has left. UINT64_MAX: it has no limit. */
static uint64_t left_in_group(const struct kind *kind, const char *folder)
{
    char text[4096];
    uint64_t limit = number_behind(read_file(folder, kind->limit, text, sizeof text), "");
    uint64_t used = number_behind(read_file(folder, kind->used, text, sizeof text), "");
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    read_file(folder, "memory.stat", text, sizeof text);
    for (int i = 0; i < 2; i++) {
        uint64_t pages = number_behind(text, kind->file_pages[i]);
        used -= pages == UINT64_MAX ? 0 : least(pages, used);
    }
    return limit > used ? limit - used : 0;
}

/* Bytes that a group and all above it have left. */
static uint64_t left_in_groups(const struct kind *kind, const char *root, const char *group)
{
    char folder[2 * PCOLLECT_PATH_BYTES];
    uint64_t left = UINT64_MAX;
    size_t top = pc_format(folder, sizeof folder, "%s%s", root, kind->top);
    pc_format(folder + top, sizeof folder - top, "%s", group);
    for (char *end;; *end = '\0') {
        left = least(left, left_in_group(kind, folder));
        end = strrchr(folder + top, '/');
        if (!end)
            return left;
    }
}

/* The group in a line of /proc/self/cgroup, which is NUMBER:CONTROLLERS:GROUP. Its kind is NULL if
 * it has no limit of memory. */
static const struct kind *kind_of(const char *line, const char **group_out)
{
    const char *controllers = strchr(line, ':'), *group;
    if (!controllers || !(group = strchr(++controllers, ':')))
        return NULL;
    *group_out = group + 1;
    if (group == controllers)
        return &version_2;
    for (const char *at = controllers; at < group; at += strcspn(at, ",:") + 1)
        if (!strncmp(at, "memory", 6) && strcspn(at, ",:") == 6)
            return &version_1;
    return NULL;
}

uint64_t pc_memory_available_in(const char *root)
{
    char text[4096], *rest = text;
    uint64_t left =
        number_behind(read_file(root, "proc/meminfo", text, sizeof text), "\nMemAvailable:");
    left = left < UINT64_MAX >> 10 ? left << 10 : UINT64_MAX;
    read_file(root, "proc/self/cgroup", text, sizeof text);
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *group;
        const struct kind *kind = kind_of(line, &group);
        if (kind)
            left = least(left, left_in_groups(kind, root, group));
    }
    return left;
}

uint64_t pc_memory_available(void)
{
    return pc_memory_available_in("");
}
