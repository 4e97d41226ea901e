/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/jit_dump.h"
#include "analysis/symbols/symbols.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { MAGIC = 0x4a695444, CODE_LOAD = 0, MOST_RECORDS = 1 << 16 };

struct head {
    uint32_t magic, version;
    uint32_t bytes;
    uint32_t machine, padding, pid;
    uint64_t time, flags;
};

struct record {
    uint32_t kind, bytes;
    uint64_t time;
    /* CODE_LOAD: */
    uint32_t pid, tid;
    uint64_t offset_in_memory, address, code_bytes, number;
};

/* Bytes of each record. */
enum { PREFIX = offsetof(struct record, pid) };

bool pct_jit_dump_is(const char *path)
{
    const char *base = pc_base_name(path);
    size_t n = strlen(base);
    return n > 9 && !strncmp(base, "jit-", 4) && !strcmp(base + n - 5, ".dump");
}

/* The head is in the byte order of the machine that wrote it. */
static uint64_t read_head(int fd)
{
    struct head h;
    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
        return 0;
    return h.magic == MAGIC && h.version == 1 && h.bytes >= sizeof h ? h.bytes : UINT64_MAX;
}

uint64_t pct_jit_dump_read(int fd, uint64_t from, uint64_t size, pct_jit_code_fn add, void *arg)
{
    struct {
        struct record r;
        char name[PCT_JIT_NAME_BYTES];
    } at;
    if (!from)
        from = read_head(fd);
    for (int i = 0; i < MOST_RECORDS && from && from < size && size - from >= PREFIX; i++) {
        ssize_t got = pread(fd, &at, sizeof at, (off_t)from);
        if (got < PREFIX)
            break;
        if (at.r.bytes < PREFIX)
            return UINT64_MAX;
        if (at.r.bytes > size - from)
            break;
        size_t n = (size_t)got < at.r.bytes ? (size_t)got : at.r.bytes;
        from += at.r.bytes;
        if (at.r.kind != CODE_LOAD || n <= sizeof at.r)
            continue;
        n -= sizeof at.r;
        at.name[n < sizeof at.name ? n : sizeof at.name - 1] = '\0';
        add(arg, at.r.address, at.r.code_bytes, at.name);
    }
    return from;
}
