/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions without debug information, for a file that another reader has opened.
 */
#include "config.h"

#include "analysis/symbols/file_names.h"

#include "analysis/symbols/dw_private.h"

struct pct_dw *pct_file_names_new(struct Dwfl_Module *module)
{
    GElf_Addr bias;
    if (!dwfl_module_getelf(module, &bias))
        return NULL;
    struct pct_dw *d = pct_alloc(1, sizeof *d);
    *d = (struct pct_dw){.module = module, .elf_bias = bias};
    return d;
}

void pct_file_names_free(struct pct_dw *d)
{
    pct_dw_close(d);
}

const char *pct_file_names_function(struct pct_dw *d, uint64_t address)
{
    const char *name;
    uint64_t begin;
    address -= d->elf_bias;
    if (pct_dw_symbol_names(d, address, &name, 1))
        return name;
    return pct_dw_begin(d, address, &begin);
}
