/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks from many places through frames of many kinds equal the walks of libunwind and glibc; the
 * words that a walk records are enough to repeat it; no walk allocates or changes errno.
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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#if HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY 1
#include <libunwind.h>
#endif

/* ---- No malloc ------------------------------------------------------------------------------- */

static volatile int walking, n_allocations;
extern void *__libc_malloc(size_t n);

void *malloc(size_t n)
{
    if (walking)
        n_allocations++;
    return __libc_malloc(n);
}

static void walk_checked(struct pc_walk walk, struct frames *f)
{
    errno = 4242;
    walking = 1;
    walk_all(walk, f);
    walking = 0;
    if (errno != 4242)
        n_allocations += 1000;
}

/* ---- Oracles --------------------------------------------------------------------------------- */

/* True if another walker's list is equal to ours from our first frame on; it begins inside the
 * leaf. */
static bool tail_equal(const struct frames *ours, uintptr_t *theirs, int n, const char *who)
{
    int skip = 0;
    while (skip < n && theirs[skip] != ours->pc[0])
        skip++;
    bool good =
        n - skip == ours->n && !memcmp(theirs + skip, ours->pc, sizeof *theirs * (size_t)ours->n);
    if (!good) {
        fprintf(stderr, "%s differs, ours ends with %d:\n", who, ours->end);
        for (int i = 0; i < ours->n || i < n - skip; i++)
            fprintf(stderr, "  %lx %lx\n", i < ours->n ? (long)ours->pc[i] : 0L,
                    i < n - skip ? (long)theirs[skip + i] : 0L);
    }
    return good;
}

/* backtrace of libc. libunwind for aarch64 exports a function of that name, too, which must not be
 * the oracle. */
static int (*libc_backtrace)(void **, int);

static bool equals_glibc(const struct frames *ours)
{
    uintptr_t theirs[MAX_FRAMES];
    int n = libc_backtrace((void **)theirs, MAX_FRAMES);
    return tail_equal(ours, theirs, n, "backtrace()");
}

#if HAVE_LIBUNWIND
static bool equals_libunwind(const struct frames *ours, unw_context_t *context, int flag)
{
    uintptr_t theirs[MAX_FRAMES];
    unw_cursor_t cursor;
    unw_word_t ip;
    int n = 0;
    unw_init_local2(&cursor, context, flag);
    do {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip)
            theirs[n++] = ip;
    } while (n < MAX_FRAMES && unw_step(&cursor) > 0);
#if defined __aarch64__
    /* libunwind 1.6.2 takes the link register although the table has no caller, and so returns the
     * outermost frame twice. */
    if (ours->end == PC_STEP_END && n > 1 && theirs[n - 1] == theirs[n - 2])
        n--;
#endif
    return tail_equal(ours, theirs, n, "libunwind");
}
#endif

/* ---- Leaves ---------------------------------------------------------------------------------- */

struct verdict {
    int calls, cut, wrong, errors;
    bool in_coroutine;
};

static void check_walk(struct verdict *v, const struct frames *f)
{
    v->calls++;
    v->cut += f->end != PC_STEP_END;
    v->wrong += !equals_glibc(f);
}

__attribute__((noinline)) static void compare_leaf(void *arg)
{
    struct verdict *v = arg;
    struct frames f, g;
    struct pc_walk start = START_WALK(own_stack());
    n_allocations = 0;
    walk_checked(start, &f);
    v->errors += n_allocations;
    check_walk(v, &f);
#if HAVE_LIBUNWIND
    unw_context_t context;
    unw_getcontext(&context);
    v->wrong += !equals_libunwind(&f, &context, 0);
#endif
    if (signal_context) { /* from the interrupted frame on it is the same walk */
        struct pc_walk interrupted;
        pc_walk_from_context(&interrupted, (const void *)signal_context, own_stack());
        walk_checked(interrupted, &g);
        int at = f.n - g.n;
        v->wrong += at <= 0 || memcmp(f.pc + at, g.pc, sizeof *g.pc * (size_t)g.n) != 0;
        v->cut += g.end != PC_STEP_END;
    }
}

static void run_all(leaf_fn leaf, void *arg)
{
    static const struct frame_kind *const sets[] = {frames_o0, frames_o2, frames_omit};
    for (size_t s = 0; s < PC_ARRAY_LEN(sets); s++) {
        for (const struct frame_kind *k = sets[s]; k->name; k++) {
            for (const struct place *p = places; p->name; p++)
                p->run(k, leaf, arg);
        }
    }
}

static void walks_equal_libunwind_and_backtrace(void **state)
{
    (void)state;
    struct verdict v = {0};
    run_all(compare_leaf, &v);
    assert_true(v.calls > 200);
    assert_int_equal(v.wrong, 0);
    assert_int_equal(v.cut, 0);
    assert_int_equal(v.errors, 0); /* no malloc, errno kept */
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Copies only the recorded words to other memory, where stack addresses are relocated and code
 * addresses are not. True if the walk over that memory finds the same frames. */
static bool replays(struct pc_walk start, const struct frames *f)
{
    uintptr_t lo = start.sp, hi = start.sp;
    for (int i = 0; i < f->n_words; i++) {
        lo = f->words[i].addr < lo ? f->words[i].addr : lo;
        hi = f->words[i].addr + 8 > hi ? f->words[i].addr + 8 : hi;
    }
    lo &= ~(uintptr_t)4095;
    size_t n = hi - lo + 8192;
    char *copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t delta = (uintptr_t)copy - lo;
    memset(copy, 0xa5, n);
    for (int i = 0; i < f->n_words; i++) {
        const struct pc_word *w = &f->words[i];
        uintptr_t value = w->kind == PC_WORD_STACK ? w->value + delta : w->value;
        memcpy(copy + (w->addr - lo), &value, sizeof value);
    }
    start.sp += delta;
    start.fp_loc += delta;
    start.stack = (struct pc_stack){(uintptr_t)copy, (uintptr_t)copy + n};
    struct frames g;
    walk_all(start, &g);
    munmap(copy, n);
    return g.n == f->n && g.end == f->end && !memcmp(g.pc, f->pc, sizeof *g.pc * (size_t)g.n);
}

__attribute__((noinline)) static void words_leaf(void *arg)
{
    struct verdict *v = arg;
    struct frames f;
    struct pc_walk start = START_WALK(own_stack());
    walk_all(start, &f);
    v->calls++;
    for (int i = 0; i < f.n_words; i++)
        v->errors += *(const uintptr_t *)f.words[i].addr != f.words[i].value;
    v->wrong += !replays(start, &f);
}

static void named_words_alone_decide_a_walk(void **state)
{
    (void)state;
    static const struct frame_kind *const sets[] = {frames_o0, frames_o2, frames_omit};
    struct verdict v = {0};
    for (size_t s = 0; s < PC_ARRAY_LEN(sets); s++) {
        for (const struct frame_kind *k = sets[s]; k->name; k++) {
            for (const struct place *p = places; p->name; p++) {
                if (!strstr(p->name, "elsewhere")) /* words too far apart to be copied */
                    p->run(k, words_leaf, &v);
            }
        }
    }
    assert_true(v.calls > 200);
    assert_int_equal(v.errors, 0);
    assert_int_equal(v.wrong, 0);
}

/* ---- Every instruction ----------------------------------------------------------------------- */

#if defined __x86_64__ && HAVE_LIBUNWIND
static struct verdict *stepping;

/* Compares walks at an instruction with libunwind's. Walks that are cut are counted alone:
 * libunwind cannot leave frames without a rule, either. */
static void on_trap(int signum, siginfo_t *info, void *context)
{
    (void)signum;
    (void)info;
    struct frames f;
    struct pc_walk walk;
    pc_walk_from_context(&walk, context, own_stack());
    walk_all(walk, &f);
    stepping->calls++;
    stepping->cut += f.end != PC_STEP_END;
    if (f.end == PC_STEP_END)
        stepping->wrong += !equals_libunwind(&f, context, UNW_INIT_SIGNAL_FRAME);
}

static void empty_leaf(void *arg)
{
    (void)arg;
}

static void set_trap_flag(bool on)
{
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static void interrupted_at_every_instruction(void **state)
{
    (void)state;
    static const struct frame_kind *const sets[] = {frames_o0, frames_o2, frames_omit};
    struct verdict v = {0};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
    stepping = &v;
    sigaction(SIGTRAP, &action, &old);
    for (size_t s = 0; s < PC_ARRAY_LEN(sets); s++) {
        for (const struct frame_kind *k = sets[s]; k->name; k++) {
            set_trap_flag(true);
            places[0].run(k, empty_leaf, NULL);
            set_trap_flag(false);
        }
    }
    char text[40] = "b a";
    set_trap_flag(true);
    places[1].run(&frames_o2[0], empty_leaf, NULL);
    strxfrm(text + 4, text, 30); /* bound now, through the loader's resolver */
    set_trap_flag(false);
    sigaction(SIGTRAP, &old, NULL);
    fprintf(stderr, "%d instructions, %d cut\n", v.calls, v.cut);
    assert_true(v.calls > 3000);
    assert_int_equal(v.wrong, 0);
    /* Some walks are cut at the end of a function that realigns the stack: by gcc 12's tables fp is
     * on the stack for two more instructions after it was restored. */
    assert_true(v.cut * 400 < v.calls);
}
#else
static void interrupted_at_every_instruction(void **state)
{
    (void)state;
    fprintf(stderr, "skipped: needs x86-64 and libunwind\n");
    skip();
}
#endif

/* ---- Walks that are refused ------------------------------------------------------------------ */

__attribute__((noinline)) static void start_here(struct pc_walk *walk)
{
    *walk = START_WALK(own_stack());
}

static void wild_registers_cut_and_never_fault(void **state)
{
    (void)state;
    struct pc_walk good, walk;
    struct pc_step step;
    start_here(&good);
    static const uintptr_t wild[] = {0, 1, 8, 4096, 0x7fffffffffff, UINTPTR_MAX - 7, UINTPTR_MAX};
    for (size_t i = 0; i < PC_ARRAY_LEN(wild); i++) {
        walk = good;
        walk.sp = wild[i];
        assert_int_not_equal(pc_walk_step(&walk, &step), PC_STEP_OK);
        walk = good;
        walk.pc = wild[i];
        assert_int_equal(pc_walk_step(&walk, &step), PC_STEP_CUT);
        assert_null(step.module);
        assert_int_equal(walk.pc, wild[i]);
        walk = good;
        walk.fp_loc = wild[i];
        walk.fp = wild[i];
        for (int n = 0; n < 50 && pc_walk_step(&walk, &step) == PC_STEP_OK; n++)
            ;
    }
}

static void function_start_is_the_function(void **state)
{
    (void)state;
    uintptr_t start = (uintptr_t)function_start_is_the_function;
    assert_int_equal(pc_walk_function_start(start + 5), start);
    assert_int_equal(pc_walk_function_start((uintptr_t)&start), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_equal_libunwind_and_backtrace),
        cmocka_unit_test(named_words_alone_decide_a_walk),
        cmocka_unit_test(interrupted_at_every_instruction),
        cmocka_unit_test(wild_registers_cut_and_never_fault),
        cmocka_unit_test(function_start_is_the_function),
    };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    (void)tests;
    puts("1..0 # SKIP the malloc of this test and those of the sanitizers exclude each other");
    return 0;
#endif
    uintptr_t warm_up[4];
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    libc_backtrace = libc ? (int (*)(void **, int))dlsym(libc, "backtrace") : backtrace;
    libc_backtrace((void **)warm_up, 4); /* loads libgcc, which allocates */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
