/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is left on this machine: see room.h.
 */
#include "merge/room.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

uint64_t pc_memory_available(void)
{
    static const char name[] = "\nMemAvailable:";
    char text[512]; /* the third line */
    const char *at = pc_read_small("/proc/meminfo", text, sizeof text) ? strstr(text, name) : NULL;
    return at ? strtoull(at + sizeof name - 1, NULL, 10) << 10 : UINT64_MAX;
}
