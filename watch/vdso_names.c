/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/vdso_names.h"
#include "analysis/symbols/vdso.h"

#include <string.h>

void pct_vdso_name(struct pct_named_places *places, struct pct_stack_frame *frame)
{
    if (!frame->module || strcmp(frame->module->path, PCT_VDSO) != 0)
        return;
    const char *name = pct_vdso_function(frame->offset - !frame->exact);
    frame->function = name ? name : PCT_VDSO;
    frame->offset =
        pct_named_make(places, frame->module, &(struct pct_frame){.function = frame->function}) -
        frame->exact;
}
