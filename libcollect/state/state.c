/* SPDX-License-Identifier: BSD-3-Clause */
#include "libcollect/state/state.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

struct pc_process pc_process;
struct pc_control pc_control;

__thread struct pc_thread *pc_self __attribute__((tls_model("initial-exec")));
__thread pcollect_ref pc_lent_context __attribute__((tls_model("initial-exec")));

static struct pc_live not_live;
struct pc_live *pc_live = &not_live;

/* A page that the kernel empties in every child, whether by fork, clone or anything else. */
int pc_process_make_live(void)
{
    long page = sysconf(_SC_PAGESIZE);
    void *p = pc_memory((size_t)page);
    if (!p)
        return PC_ENOMEM;
#ifdef MADV_WIPEONFORK
    madvise(p, (size_t)page, MADV_WIPEONFORK);
#endif
    pc_live = p;
    return PC_OK;
}

bool pc_process_is_child(void)
{
    return pc_process.pid && getpid() != pc_process.pid;
}

void pc_lost(enum pcollect_lost what, uint64_t n)
{
    __atomic_fetch_add(&pc_header()->lost[what], n, __ATOMIC_RELAXED);
}

void pc_core_set_counted(pc_core_is_counted_fn *is_counted)
{
    pc_process.is_counted = is_counted;
}

bool pc_core_refused(void)
{
    return atomic_load(&pc_process.refused);
}

void pc_core_complain(const char *format, ...)
{
    char text[900];
    va_list args;
    if (pc_config_launch_rank() > 0)
        return;
    va_start(args, format);
    pc_vformat(text, sizeof text, format, args);
    va_end(args);
    pc_log("%s", text);
}
