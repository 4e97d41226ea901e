/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns addresses of mapped code into offsets of its file, for files as linkers lay them out: each
 * segment on pages of its own, two on one page of the file, and several with code; and only files
 * that are the mapped ones. Names functions of the vdso.
 */
#include "analysis/symbols/vdso.h"
#include "watch/code_files.h"
#include "watch/vdso_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#if defined __aarch64__
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_X86_64 };
#endif

enum { MOST_SEGMENTS = 4, FILE_BYTES = 0x6000 };

struct layout {
    unsigned n;
    struct {
        uint32_t flags;
        uint64_t offset, bytes, address;
    } segments[MOST_SEGMENTS];
};

/* As GNU ld lays out, with pages of code alone. */
static const struct layout separate = {3,
                                       {{PF_R, 0, 0x674, 0},
                                        {PF_R | PF_X, 0x1000, 0x1a0, 0x1000},
                                        {PF_R | PF_W, 0x2000, 0x230, 0x3000}}};
/* As GNU ld does with -z noseparate-code: the headers are beside the code. */
static const struct layout together = {
    2, {{PF_R | PF_X, 0, 0x1234, 0}, {PF_R | PF_W, 0x1234, 0x230, 0x2234}}};
/* As lld lays out: segments are not padded in the file. */
static const struct layout dense = {3,
                                    {{PF_R, 0, 0x674, 0},
                                     {PF_R | PF_X, 0x680, 0x21a0, 0x1680},
                                     {PF_R | PF_W, 0x2820, 0x1e8, 0x4820}}};
/* Code in two segments of which one ends where the other begins, as tools that rewrite code do. */
static const struct layout two = {3,
                                  {{PF_R, 0, 0x674, 0},
                                   {PF_R | PF_X, 0x680, 0x2000, 0x1680},
                                   {PF_R | PF_X, 0x2680, 0x1100, 0x4680}}};

/* Writes a file of program headers, without code. */
static void write_file(const struct layout *l, char *path)
{
    static char bytes[FILE_BYTES];
    ElfW(Ehdr) e = {.e_type = ET_DYN,
                    .e_machine = MACHINE,
                    .e_phoff = sizeof e,
                    .e_phentsize = sizeof(ElfW(Phdr)),
                    .e_phnum = (ElfW(Half))l->n};
    memcpy(e.e_ident, ELFMAG, SELFMAG);
    memcpy(bytes, &e, sizeof e);
    for (unsigned i = 0; i < l->n; i++) {
        const ElfW(Phdr) p = {.p_type = PT_LOAD,
                              .p_flags = l->segments[i].flags,
                              .p_offset = l->segments[i].offset,
                              .p_vaddr = l->segments[i].address,
                              .p_filesz = l->segments[i].bytes,
                              .p_memsz = l->segments[i].bytes,
                              .p_align = 0x1000};
        memcpy(bytes + sizeof e + i * sizeof p, &p, sizeof p);
    }
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
}

struct looked_up {
    const struct layout *layout;
    uint64_t offset, bytes; /* of the mapping, in the file */
    uint64_t at;            /* in the mapping */
    uint64_t address;       /* in the file's addresses */
};

static void look_up(const struct looked_up *l)
{
    enum { LO = 0x7f0000000000 };
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/code_files.XXXXXX", folder ? folder : "/tmp");
    write_file(l->layout, path);
    struct pct_code_files *files = pct_code_files_new();
    struct pct_code code = {0};
    const struct pct_mapping m = {.lo = LO, .hi = LO + l->bytes, .offset = l->offset, .path = path};
    pct_code_map(&code, files, getpid(), &m);
    uintptr_t here = pct_code_here(&code, m.lo + l->at);
    assert_true(here != 0);
    const struct pc_module *module = pc_loadmap_find(here);
    assert_non_null(module);
    assert_string_equal(module->path, path);
    assert_int_equal(here - module->bias, l->address);
    pct_code_free(&code);
    pct_code_files_free(files);
    unlink(path);
}

static void addresses_are_those_of_the_mapped_segment(void **state)
{
    (void)state;
    static const struct looked_up all[] = {
        {&separate, 0x1000, 0x1000, 0x80, 0x1080}, {&together, 0, 0x2000, 0x1080, 0x1080},
        {&dense, 0, 0x3000, 0x680, 0x1680},        {&dense, 0, 0x3000, 0x281f, 0x381f},
        {&dense, 0x1000, 0x1000, 0x10, 0x2010}, /* a part, with other rights than the rest */
        {&dense, 0x2000, 0x1000, 0x10, 0x3010}, /* its last page, which data shares */
        {&two, 0, 0x3000, 0x700, 0x1700},          {&two, 0x2000, 0x2000, 0x700, 0x4700},
        {&two, 0x3000, 0x1000, 0x10, 0x5010},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        look_up(&all[i]);
}

/* A process may map more of a file than its program headers load. */
static void addresses_outside_of_the_copy_have_no_code(void **state)
{
    (void)state;
    enum { LO = 0x10000, COPY = 0x3230 /* of the layout `separate`, from its lowest address */ };
    static const struct {
        uint64_t offset, at;
        bool here;
    } all[] = {
        {0, 0, true},           {0, COPY - 1, true},
        {0, COPY, false},       {0, 0x100000 - 1, false},
        {0x1000, 0x1000, true}, {0x1000, (1 << 28) - 1, false},
    };
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/code_files.XXXXXX", folder ? folder : "/tmp");
    write_file(&separate, path);
    struct pct_code_files *files = pct_code_files_new();
    struct pct_code code = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct pct_mapping m = {
            .lo = LO, .hi = LO + (1 << 28), .offset = all[i].offset, .path = path};
        pct_code_map(&code, files, getpid(), &m);
        assert_int_equal(pct_code_here(&code, LO + all[i].at) != 0, all[i].here);
        assert_true(pct_code_is_mapped(&code, LO + all[i].at));
    }
    pct_code_free(&code);
    pct_code_files_free(files);
    unlink(path);
}

/* A file that took the place of the mapped one, or is gone, gives no functions: its name says so.
 */
static void another_file_is_not_taken_for_the_mapped_one(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    char path[4096], gone[4096 + 8];
    struct stat st;
    snprintf(path, sizeof path, "%s/code_files.XXXXXX", folder ? folder : "/tmp");
    write_file(&separate, path);
    snprintf(gone, sizeof gone, "%s (gone)", path);
    assert_int_equal(stat(path, &st), 0);
    struct pct_code_files *files = pct_code_files_new();
    struct pct_code code = {0};
    uint64_t offset = 0, lo = 0x10000;
    struct pct_mapping m = {
        .lo = lo, .hi = lo + 0x1000, .offset = 0x1000, .inode = st.st_ino, .path = path};
    pct_code_map(&code, files, getpid(), &m);
    assert_true(pct_code_here(&code, lo) != 0);
    assert_null(pct_code_gone(&code, lo, &offset));
    m.inode++;
    pct_code_map(&code, files, getpid(), &m);
    assert_int_equal(pct_code_here(&code, lo), 0);
    assert_string_equal(pct_code_gone(&code, lo + 0x80, &offset), gone);
    assert_int_equal(offset, 0x1080);
    /* The offsets of what is left of a mapping stay. */
    pct_code_map(&code, files, getpid(),
                 &(struct pct_mapping){.lo = lo, .hi = lo + 0x40, .path = ""});
    assert_null(pct_code_gone(&code, lo, &offset));
    assert_string_equal(pct_code_gone(&code, lo + 0x80, &offset), gone);
    assert_int_equal(offset, 0x1080);
    unlink(path);
    m.inode--;
    pct_code_map(&code, files, getpid(), &m);
    assert_string_equal(pct_code_gone(&code, lo + 0x80, &offset), gone);
    pct_code_free(&code);
    pct_code_files_free(files);
}

/* Oracle: libc's search in the vdso. */
static void functions_of_the_vdso_have_one_name_and_place(void **state)
{
    static const char *const names[] = {"__vdso_clock_gettime", "__kernel_clock_gettime"};
    struct pct_named_places places = {0};
    struct pct_stack_module kernel = {.path = (char *)PCT_VDSO}, other = {.path = (char *)"/a"};
    uintptr_t begin = getauxval(AT_SYSINFO_EHDR);
    void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *at = NULL;
    const char *name = NULL;
    (void)state;
    for (int i = 0; vdso && i < 2 && !at; i++)
        at = dlsym(vdso, name = names[i]);
    if (!at)
        skip();
    struct pct_stack_frame frames[] = {
        {.module = &kernel, .offset = (uintptr_t)at - begin, .exact = true},
        {.module = &kernel, .offset = (uintptr_t)at - begin + 9, .exact = true},
        {.module = &kernel, .offset = (uintptr_t)at - begin + 9},
        {.module = &kernel, .offset = 1, .exact = true},
        {.module = &other, .offset = (uintptr_t)at - begin, .exact = true}};
    for (int i = 0; i < 5; i++)
        pct_vdso_name(&places, &frames[i]);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(frames[i].function, name);
        assert_int_equal(frames[i].offset + frames[i].exact, frames[2].offset);
    }
    assert_string_equal(frames[3].function, PCT_VDSO);
    assert_null(frames[4].function);
    assert_int_equal(frames[4].offset, (uintptr_t)at - begin);
    assert_int_equal(places.n, 2);
    pct_named_free(&places);
}

static void another_kernel_names_no_functions(void **state)
{
    struct pc_profile_module modules[] = {{.path = (char *)PCT_VDSO},
                                          {.path = (char *)PCT_VDSO, .build_id_bytes = 20}};
    struct pc_profile p = {.modules = modules, .n_modules = 2};
    struct pct_symbols *symbols = pct_symbols_new(&p);
    (void)state;
    for (uint32_t m = 0; m < 2; m++) {
        for (uint64_t offset = 0; offset < 0x2000; offset += 16)
            assert_null(pct_symbols_find(symbols, m, offset).frames->function);
        assert_int_not_equal(pct_symbols_state(symbols, m), PCT_SYMBOLS_FUNCTIONS);
    }
    pct_symbols_free(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_file_is_not_taken_for_the_mapped_one),
        cmocka_unit_test(addresses_are_those_of_the_mapped_segment),
        cmocka_unit_test(addresses_outside_of_the_copy_have_no_code),
        cmocka_unit_test(functions_of_the_vdso_have_one_name_and_place),
        cmocka_unit_test(another_kernel_names_no_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
