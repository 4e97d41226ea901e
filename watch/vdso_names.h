/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions in the kernel's own page of code, the vdso, from which programs read clocks.
 * It is in no file. The page of this process is that of all, with a table of symbols.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_VDSO_NAMES_H
#define PCT_VDSO_NAMES_H

#include "watch/named_places.h"

#define PCT_VDSO "[vdso]"

/* Gives a frame of the module PCT_VDSO its name, and an offset that is the same for the whole
 * function. The name is that of the module where the table has none. Leaves other frames alone. */
void pct_vdso_name(struct pct_named_places *places, struct pct_stack_frame *frame);

#endif
