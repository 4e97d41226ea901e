/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of processors as text, for the tables `place` and `resources`.
 */
#include "libcollect/tables/process_tables.h"

void pc_cpus_put(const cpu_set_t *set, char *out, size_t n)
{
    size_t at = 0;
    out[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int last = cpu;
        if (!CPU_ISSET(cpu, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        at += pc_format(out + at, n - at, "%s%d", at ? "," : "", cpu);
        if (last > cpu)
            at += pc_format(out + at, n - at, "-%d", last);
        cpu = last;
    }
    if (at + 1 >= n)
        out[0] = '\0';
}
