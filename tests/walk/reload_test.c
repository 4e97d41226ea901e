/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The load map and the walker follow the loader: a library at the addresses of an earlier one is
 * walked by its own rules and has its own name, after the generation was raised as by dlopen and
 * dlclose; a library that was loaded without notice is found. Compiled a second time with a load
 * map without _dl_find_object.
 */
#define _GNU_SOURCE 1

#include "tests/walk/frames.h"
#include "tests/walk/walkers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void (*through_fn)(leaf_fn leaf, void *arg);

struct visit {
    uintptr_t pc, frame_bytes;
    bool equal; /* our walk equals glibc's */
    char path[PCOLLECT_PATH_BYTES];
};

/* Compares our walk with glibc's; the first frame is `through`. */
__attribute__((noinline)) static void look(void *arg)
{
    struct visit *v = arg;
    struct frames f;
    void *theirs[MAX_FRAMES];
    struct pc_step step;
    struct pc_walk walk = START_WALK(own_stack());
    walk_all(walk, &f);
    int n = backtrace(theirs, MAX_FRAMES), skip = 0;
    while (skip < n && (uintptr_t)theirs[skip] != f.pc[0])
        skip++;
    v->equal = n - skip == f.n && !memcmp(theirs + skip, f.pc, sizeof *f.pc * (size_t)f.n);
    v->pc = walk.pc;
    v->frame_bytes = walk.sp;
    if (pc_walk_step(&walk, &step) == PC_STEP_OK)
        v->frame_bytes = walk.sp - v->frame_bytes;
    if (step.module)
        snprintf(v->path, sizeof v->path, "%s", step.module->path);
}

static bool raised = true; /* the generation is raised, as by the interposed dlopen and dlclose */

static void *open_library(const char *name)
{
    char path[4096];
    const char *build = getenv("PC_BUILD");
    snprintf(path, sizeof path, "%s/tests/walk/.libs/%s", build ? build : ".", name);
    atomic_fetch_add(&pc_loadmap_generation, raised);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    assert_non_null(handle);
    return handle;
}

static struct visit visit(const char *name)
{
    struct visit v = {0};
    void *handle = open_library(name);
    through_fn through = (through_fn)(uintptr_t)dlsym(handle, "through");
    assert_non_null((void *)(uintptr_t)through);
    through(look, &v);
    atomic_fetch_add(&pc_loadmap_generation, raised);
    dlclose(handle);
    return v;
}

static void a_library_at_the_address_of_another_has_its_own_rules(void **state)
{
    (void)state;
    struct visit small = visit("module_small.so"), large = visit("module_large.so");
    if (small.pc != large.pc) {
        fprintf(stderr, "skipped: the loader chose another address, %lx and %lx\n", (long)small.pc,
                (long)large.pc);
        skip();
    }
    assert_true(small.equal);
    assert_true(large.equal);
    assert_true(large.frame_bytes >= small.frame_bytes + 2048);
    assert_non_null(strstr(small.path, "/module_small.so"));
    assert_non_null(strstr(large.path, "/module_large.so"));
}

static void a_library_comes_back_under_its_own_name(void **state)
{
    (void)state;
    struct visit once = visit("module_small.so"), other = visit("module_large.so");
    struct visit again = visit("module_small.so");
    assert_true(once.equal && other.equal && again.equal);
    assert_string_equal(once.path, again.path);
    assert_string_not_equal(once.path, other.path);
}

/* libc loads some libraries by itself, without a call of the interposed dlopen. */
static void a_library_loaded_without_notice_is_found(void **state)
{
    (void)state;
    struct visit v = {0};
    assert_null(pc_loadmap_find(16));
    uint32_t generation = atomic_load(&pc_loadmap_generation);
    raised = false;
    void *handle = open_library("module_other.so");
    raised = true;
    through_fn through = (through_fn)(uintptr_t)dlsym(handle, "through");
    errno = 4242;
    through(look, &v);
    assert_int_equal(errno, 4242);
    assert_true(v.equal);
    assert_non_null(strstr(v.path, "/module_other.so"));
    assert_int_equal(atomic_load(&pc_loadmap_generation), generation);
    atomic_fetch_add(&pc_loadmap_generation, 1);
    dlclose(handle);
}

/* A program may have left the directory from which it opened a library by a relative path. */
static void a_library_has_the_path_that_it_was_opened_from(void **state)
{
    char before[4096], folder[4096];
    const char *build = getenv("PC_BUILD");
    struct visit v = {0};
    (void)state;
    snprintf(folder, sizeof folder, "%s/tests/walk/.libs", build ? build : ".");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    atomic_fetch_add(&pc_loadmap_generation, 1);
    void *handle = dlopen("./module_small.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    through_fn through = (through_fn)(uintptr_t)dlsym(handle, "through");
    for (int i = 0; i < 2; i++) {
        struct stat here, there;
        assert_int_equal(stat("module_small.so", &here), 0);
        assert_int_equal(chdir("/"), 0);
        atomic_fetch_add(&pc_loadmap_generation, i);
        through(look, &v);
        assert_int_equal(chdir(before), 0);
        assert_int_equal(stat(v.path, &there), 0);
        assert_true(here.st_dev == there.st_dev && here.st_ino == there.st_ino);
        assert_int_equal(chdir(folder), 0);
    }
    assert_int_equal(chdir(before), 0);
    atomic_fetch_add(&pc_loadmap_generation, 1);
    dlclose(handle);
}

static int note_address(struct pc_module *module, void *arg)
{
    uintptr_t *addr = arg;
    return module->lo <= *addr && *addr < module->hi;
}

static void a_closed_library_is_in_no_list(void **state)
{
    (void)state;
    struct visit v = visit("module_small.so");
    assert_null(pc_loadmap_find(v.pc));
    assert_int_equal(pc_loadmap_each(note_address, &v.pc), 0);
    uintptr_t own = (uintptr_t)&note_address;
    assert_int_equal(pc_loadmap_each(note_address, &own), 1);
}

/* A transport of an MPI library has its name, not one that begins as it. */
static void libraries_are_known_by_their_names(void **state)
{
    static const struct {
        const char *path;
        uint32_t kind;
    } cases[] = {{"/lib/libucp.so.0", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/ucx/libuct_ib.so.0", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libpsm2.so.2", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libibverbs/libmlx5-rdmav34.so", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libevent_core-2.1.so.7", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libopen-pal.so.40", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libmca_common_sm.so.40", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libsharp_coll.so.5", PCOLLECT_MODULE_RUNTIME},
                 {"/lib/libgomp.so.1", PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_TEAM},
                 {"/lib/libc.so.6", PCOLLECT_MODULE_LIBC},
                 {"/lib/libsharp.so.0", 0},
                 {"/home/libeventgen.so", 0},
                 {"/home/libuctools.so", 0},
                 {"/home/libopen-source.so", 0},
                 {"/home/solver", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pc_loadmap_kind(cases[i].path) != cases[i].kind)
            fail_msg("%s: %x", cases[i].path, pc_loadmap_kind(cases[i].path));
}

/* Comes last: searches go through the whole table from then on. */
static void more_modules_than_a_chunk_holds_are_known(void **state)
{
    enum { N = 9000 };
    static const ElfW(Phdr)
        part = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = 4096, .p_align = 4096};
    char path[64];
    (void)state;
    for (uintptr_t i = 1; i <= N; i++) {
        snprintf(path, sizeof path, "/made/%lu.so", (unsigned long)i);
        struct pc_module *m = pc_loadmap_enter_copy(i << 16, path, &part, 1);
        assert_non_null(m);
        assert_ptr_equal(pc_loadmap_numbered(pc_loadmap_number(m)), m);
    }
    for (uintptr_t i = 1; i <= N; i += 100) {
        snprintf(path, sizeof path, "/made/%lu.so", (unsigned long)i);
        struct pc_module *m = pc_loadmap_find((i << 16) + 8);
        assert_non_null(m);
        assert_string_equal(m->path, path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_at_the_address_of_another_has_its_own_rules),
        cmocka_unit_test(a_library_comes_back_under_its_own_name),
        cmocka_unit_test(a_library_loaded_without_notice_is_found),
        cmocka_unit_test(a_library_has_the_path_that_it_was_opened_from),
        cmocka_unit_test(a_closed_library_is_in_no_list),
        cmocka_unit_test(libraries_are_known_by_their_names),
        cmocka_unit_test(more_modules_than_a_chunk_holds_are_known),
    };
    void *warm_up[4];
    backtrace(warm_up, 4);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
