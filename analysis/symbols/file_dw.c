/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes of a file, and symbols that are added to its own: for the names of functions that have no
 * symbol.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"

const uint8_t *pct_dw_bytes_at(struct pct_dw *d, uint64_t address, size_t *n_out)
{
    GElf_Addr at = address + d->elf_bias, bias;
    Elf_Scn *section = dwfl_module_address_section(d->module, &at, &bias);
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || at >= data->d_size)
        return NULL;
    *n_out = data->d_size - at;
    return (const uint8_t *)data->d_buf + at;
}

bool pct_dw_has_symbol(const struct pct_dw *d, uint64_t address)
{
    for (size_t i = 0; i < d->n_symbols; i++)
        if (address >= d->symbols[i].lo && address < d->symbols[i].hi)
            return true;
    return false;
}

void pct_dw_add_function(struct pct_dw *d, uint64_t lo, uint64_t hi, const char *name)
{
    d->symbols = pct_grow(d->symbols, d->n_symbols, &d->symbols_room, sizeof *d->symbols);
    d->symbols[d->n_symbols++] =
        (struct pct_dw_symbol){.lo = lo, .hi = hi, .reach = hi, .name = name};
}
