/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each call of libpcol that may allocate is a run (analysis/allocation.h) whose memory the profile
 * owns. A run without memory has no effect, except on the profile's status.
 */
#include "libpcol/libpcol_private.h"

void pct_lib_run(struct pcol_profile *p, void (*work)(void *arg), void *arg)
{
    if (pct_memory_run(p->memory, work, arg))
        p->refused = true;
}

enum pcol_status pcol_status(const struct pcol_profile *p)
{
    if (p->refused)
        return PCOL_NO_MEMORY;
    return pc_profile_unread(p->profile) ? PCOL_DAMAGED : PCOL_OK;
}
