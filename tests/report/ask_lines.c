/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looks up return addresses of one file in the report's symbols, for the test of symbols, and
 * prints them in the form of `addr2line -f -i -s`: for each address the innermost function first,
 * each with its file and line in the next line. A function without a name is where it begins, as
 * 0x1f780, if that is known.
 *
 *     ask_lines [-d] [-l | -o] FILE [BUILD-ID] < hexadecimal offsets
 *
 * FILE is the program; with -l a runtime, with -o another library. With -d servers are asked.
 */
#include "analysis/symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_build_id(struct pc_profile_module *m, const char *hex)
{
    for (; hex[0] && hex[1] && m->build_id_bytes < PCOLLECT_BUILD_ID_BYTES; hex += 2) {
        char digits[3] = {hex[0], hex[1], 0};
        m->build_id[m->build_id_bytes++] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "-d")) {
        pct_symbols_allow_servers();
        argv++;
        argc--;
    }
    uint32_t flags = PCOLLECT_MODULE_EXE;
    if (argc > 1 && (!strcmp(argv[1], "-l") || !strcmp(argv[1], "-o"))) {
        flags = argv[1][1] == 'l' ? PCOLLECT_MODULE_RUNTIME : 0;
        argv++;
        argc--;
    }
    if (argc < 2)
        return 2;
    struct pc_profile_module module = {.path = argv[1], .flags = flags};
    struct pc_profile profile = {.modules = &module, .n_modules = 1};
    if (argc > 2)
        read_build_id(&module, argv[2]);
    struct pct_symbols *symbols = pct_symbols_new(&profile);
    unsigned long long offset;
    while (scanf("%llx", &offset) == 1) {
        struct pct_place place = pct_symbols_find(symbols, 0, offset);
        for (uint32_t i = place.n_frames; i-- > 0;) {
            const struct pct_frame *f = &place.frames[i];
            if (f->begin && !f->function)
                printf("0x%llx", (unsigned long long)f->begin);
            else
                printf("%s", f->function ? f->function : "??");
            printf("\n%s:%u\n", f->file ? pc_base_name(f->file) : "??", f->line);
        }
    }
    fprintf(stderr, "%s\n", pct_symbols_state_text(pct_symbols_state(symbols, 0)));
    if (pct_symbols_complaint(symbols, 0))
        fprintf(stderr, "%s\n", pct_symbols_complaint(symbols, 0));
    pct_symbols_free(symbols);
    return 0;
}
