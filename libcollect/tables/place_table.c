/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `place`: where each rank may run and on which socket, as it was when MPI_Init returned,
 * or the first MPI_Session_init of a program without it, read from the kernel. For plugins that
 * want the machine (PCOLLECT_WANT_MACHINE).
 */
#include "libcollect/context/thread.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>
#include <stdlib.h>

static bool is_wanted(void)
{
    return pc_process.core.wants & PCOLLECT_WANT_MACHINE;
}

/* Adds it as a table of `topology`, as which it is in the profiles of older versions: a table of
 * another plugin could not be averaged with those. */
int pc_place_start(void)
{
    return is_wanted() ? pc_table_add("topology", &pc_table_place) : PC_OK;
}

/* 1 + the package of a processor, 0 if the system does not say. */
static uint64_t socket_of(int cpu)
{
    char path[96], text[16];
    pc_format(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    size_t n = pc_read_small(path, text, sizeof text);
    return n > 0 && *text >= '0' && *text <= '9' ? 1 + strtoull(text, NULL, 10) : 0;
}

static uint64_t common_socket(const cpu_set_t *set)
{
    uint64_t socket = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set))
            continue;
        uint64_t its = socket_of(cpu);
        if (!its || (socket && its != socket))
            return 0;
        socket = its;
    }
    return socket;
}

void pc_place_note(void)
{
    const uint64_t key = (uint64_t)(int64_t)PCOLLECT_RANK_SELF;
    int saved = errno;
    cpu_set_t set;
    char cores[PCOLLECT_STRING_BYTES + 2];
    if (is_wanted() && !sched_getaffinity(0, sizeof set, &set)) {
        uint64_t *v = pc_table_row(pc_thread_current(), &pc_table_place, &key);
        if (v) {
            pc_cpus_put(&set, cores, sizeof cores);
            v[PC_PLACE_SOCKET] = common_socket(&set);
            v[PC_PLACE_CORES] = pc_table_string(cores);
        }
    }
    errno = saved;
}
