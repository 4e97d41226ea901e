/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Code that runs inside the program's calls has no side effects there: no malloc, errno unchanged.
 * The functions of malloc are defined here and count; they call the C library's own.
 */
#include "tests/cct/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __GLIBC__
#define COUNTS_MALLOC 0
static const unsigned n_mallocs;
#else
#define COUNTS_MALLOC 1
static unsigned n_mallocs;

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

void *malloc(size_t n)
{
    n_mallocs++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    n_mallocs++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    n_mallocs++;
    return __libc_realloc(p, n);
}

void free(void *p)
{
    n_mallocs++;
    __libc_free(p);
}
#endif

#define MARK 4242

/* Calls every function that a program's thread may reach, until the arena is full and beyond. */
static void use_everything(struct pc_arena *a)
{
    const struct pcollect_module m = {.path_bytes = 4};
    const struct pcollect_plugin_rec p = {.n_fields = 1};
    const struct pcollect_field_rec field = {.bins = 1};
    for (int round = 0; round < 3; round++) {
        struct pc_tree *t = pc_tree_open(a, round, false);
        CHECK(errno == MARK);
        pcollect_ref node = t->root;
        for (unsigned i = 0; i < 30000; i++) {
            bool collapsed = false;
            pcollect_ref child = pc_tree_frame(t, node, 0, i);
            node = child ? child : node;
            pc_tree_op(t, node, (uint16_t)(i % 10), 256, &collapsed);
            CHECK(errno == MARK);
            if (i % 100 == 0)
                node = pc_tree_cut(t, t->root);
        }
        pc_tree_retire(t);
        CHECK(pc_tree_adopt_any(a, 1, false) == t);
        pc_arena_add_module(a, &m, "/lib");
        pc_arena_add_plugin(a, &p, &field);
        pc_arena_add_op(a, (uint16_t)round, 1, "MPI_Send");
        pc_arena_alloc(a, 4096);
        pc_arena_alloc_reserve(a, 64);
        CHECK(errno == MARK);
    }
}

static void use_quietly(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    errno = MARK;
    unsigned before = n_mallocs;
    CHECK(open_it(&a, place->spool, 8 * MIB, NULL) == PC_OK && a.is_file && errno == MARK);
    use_everything(&a);
    CHECK(pc_arena_alloc(&a, 4096) == 0); /* it was filled */
    pc_arena_unlink(&a);
    CHECK(errno == MARK);
    CHECK(pc_arena_forget(&a) == PC_OK && errno == MARK);
    pc_arena_unlink(&a);
    pc_arena_close(&a);
    CHECK(errno == MARK);
    CHECK(open_it(&a, "/proc/nowhere", 8 * MIB, NULL) == PC_OK && !a.is_file && errno == MARK);
    pc_arena_close(&a);
    CHECK(n_mallocs == before);
}

/* Uses an arena whose every step of growth the system refuses. */
static void use_quietly_in_vain(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    CHECK(place_mount(place, "tmpfs", "size=2m"));
    CHECK(open_it(&a, place->spool, 8 * MIB, NULL) == PC_OK && a.is_file);
    char path[200];
    snprintf(path, sizeof path, "%s/filler", place->spool);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    setvbuf(f, NULL, _IONBF, 0);
    static char block[4096];
    while (fwrite(block, 1, sizeof block, f) == sizeof block)
        ;
    fclose(f);
    /* Without a name the free space cannot be determined: the system itself refuses. */
    CHECK(unlink(a.path) == 0);
    unsigned before = n_mallocs;
    errno = MARK;
    use_everything(&a);
    CHECK(n_mallocs == before);
    CHECK(a.header->used_bytes < MIB / 2);
}

static void collecting_leaves_malloc_and_errno_alone(void **state)
{
    SKIP_IF(!*state, "/dev/shm is no tmpfs");
    SKIP_IF(!COUNTS_MALLOC, "malloc cannot be counted in this build");
    unsigned before = n_mallocs;
    free(malloc(100));
    assert_int_equal(n_mallocs, before + 2); /* the counting works */
    for (int i = 0; i < 2; i++)
        in_child(use_quietly, *state, place_ways[i]);
}

static void refused_growth_leaves_malloc_and_errno_alone(void **state)
{
    SKIP_IF(!*state, "/dev/shm is no tmpfs");
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    for (int i = 0; i < 2; i++)
        in_child(use_quietly_in_vain, *state, place_ways[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(collecting_leaves_malloc_and_errno_alone, place_make,
                                        place_remove),
        cmocka_unit_test_setup_teardown(refused_growth_leaves_malloc_and_errno_alone, place_make,
                                        place_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
