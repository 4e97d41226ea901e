/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of frames in the kernel's own page of code, the vdso (analysis/symbols/vdso.h).
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_VDSO_NAMES_H
#define PCT_VDSO_NAMES_H

#include "watch/named_places.h"

/* Gives a frame of the module PCT_VDSO its name, and an offset that is the same for the whole
 * function. The name is that of the module where the table has none. Leaves other frames alone. */
void pct_vdso_name(struct pct_named_places *places, struct pct_stack_frame *frame);

#endif
