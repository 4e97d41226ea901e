/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel regions of OpenMP, for the two files that detect them: gomp.c (calls of the compiler,
 * GNU's interface) and ompt.c (what LLVM's and Intel's runtime tells a tool).
 */
#ifndef PC_REGION_H
#define PC_REGION_H

#include "libcollect/state/state.h"

/* The context of the function that enters a region, from its call, of which cfa, fp and ret are
 * set. 0: not known. */
pcollect_ref pc_region_context(struct pc_call *call);

/* Notes that the calling thread works for a region that was entered in that context of another
 * thread; 0: for none. Returns the previous value. */
pcollect_ref pc_region_work_for(pcollect_ref context);

#endif
