/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The function of the C++ library in which threads of std::thread, std::jthread and std::async
 * begin. It is the outermost frame of each of their contexts, and local to the library: no symbol
 * names it once that is stripped.
 *
 * std::thread::_M_start_thread, which has a symbol because programs call it, passes its address to
 * pthread_create as the third argument. Supports x86-64 and aarch64. An address that tables for
 * exceptions do not call the begin of a function is not taken.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"

#include <string.h>

enum { MOST_BYTES = 64 }; /* of the code up to the call */

/* std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)()), since GCC 6. */
static const char starter[] =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";
static const char started[] = "execute_native_thread_routine";

/* lea distance(%rip), %rdx; 0: none. */
static uint64_t find_x86_64(const uint8_t *code, size_t n, uint64_t address)
{
    enum { BYTES = 7 };
    for (size_t i = 0; i + BYTES <= n; i++) {
        int32_t distance;
        if (memcmp(code + i, "\x48\x8d\x15", 3) != 0)
            continue;
        memcpy(&distance, code + i + 3, sizeof distance);
        return address + i + BYTES + (uint64_t)(int64_t)distance;
    }
    return 0;
}

/* adrp x2, page; add x2, x2, #offset; 0: none. Other instructions can be between the two. */
static uint64_t find_aarch64(const uint8_t *code, size_t n, uint64_t address)
{
    uint64_t page = 0;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        uint32_t word;
        memcpy(&word, code + i, sizeof word);
        if ((word & 0x9f00001f) == 0x90000002) {
            uint32_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
            int64_t distance = (int64_t)((uint64_t)pages << 43) >> 31; /* 21 bits with sign */
            page = ((address + i) & ~(uint64_t)0xfff) + (uint64_t)distance;
        } else if (page && (word & 0xffc003ff) == 0x91000042) {
            return page + (word >> 10 & 0xfff);
        }
    }
    return 0;
}

/* The third argument that the function at a link-time address passes; 0: unknown. */
static uint64_t find_argument(struct pct_dw *d, uint64_t address)
{
    GElf_Addr at = address + d->elf_bias, bias;
    GElf_Ehdr file;
    Elf *elf = dwfl_module_getelf(d->module, &bias);
    Elf_Scn *section = dwfl_module_address_section(d->module, &at, &bias);
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || at >= data->d_size || !elf || !gelf_getehdr(elf, &file))
        return 0;
    size_t n = data->d_size - at < MOST_BYTES ? data->d_size - at : MOST_BYTES;
    const uint8_t *code = (const uint8_t *)data->d_buf + at;
    return file.e_machine == EM_X86_64    ? find_x86_64(code, n, address)
           : file.e_machine == EM_AARCH64 ? find_aarch64(code, n, address)
                                          : 0;
}

static const struct pct_dw_symbol *find_starter(const struct pct_dw *d)
{
    for (size_t i = 0; i < d->n_symbols; i++)
        if (!strcmp(d->symbols[i].name, starter))
            return &d->symbols[i];
    return NULL;
}

void pct_dw_read_thread_start(struct pct_dw *d)
{
    const struct pct_dw_symbol *by = find_starter(d);
    uint64_t lo, hi, begin = by ? find_argument(d, by->lo) : 0;
    if (!begin || !pct_dw_unwind(d, begin, &lo, &hi) || lo != begin)
        return;
    for (size_t i = 0; i < d->n_symbols; i++)
        if (begin >= d->symbols[i].lo && begin < d->symbols[i].hi)
            return;
    d->symbols = pct_grow(d->symbols, d->n_symbols, &d->symbols_room, sizeof *d->symbols);
    d->symbols[d->n_symbols++] = (struct pct_dw_symbol){lo, hi, hi, started, 0};
}
