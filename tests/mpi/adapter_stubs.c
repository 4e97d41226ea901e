/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stubs alone, with a resolver of this test that overwrites every register that it may:
 * arguments in registers and on the stack, vectors, variadic calls, large results, the return
 * address and the unwind information are as they would be without a stub. Prints TAP. Also built
 * for other processors and run in an emulator, and with the stubs in C.
 */
#include "libcollect/mpi/mpi_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#define PC_STUB(name, slot) int name(void);
#include "libcollect/mpi/stub_rows.h"
#undef PC_STUB
#undef PC_N_STUBS

static const struct {
    const char *name;
    int (*stub)(void);
    unsigned slot;
} stubs[] = {
#define PC_STUB(name, slot) {#name, name, slot},
#include "libcollect/mpi/stub_rows.h"
};

static int tests, failures;

static void ok(bool good, const char *name)
{
    failures += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++tests, name);
}

/* ---- The resolver under test's feet --------------------------------------------------------- */

static void *target;
static unsigned resolved_slot, n_resolved;
static bool aligned, unwound;
static uintptr_t caller_ret; /* set by targets */
static uintptr_t frames[64];
static int n_frames;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
    (void)arg;
    if (n_frames < 64)
        frames[n_frames++] = (uintptr_t)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static void spoil_registers(void)
{
#if defined __x86_64__
    __asm__ volatile("mov $-1, %%rax; mov %%rax, %%rdi; mov %%rax, %%rsi; mov %%rax, %%rdx;"
                     "mov %%rax, %%rcx; mov %%rax, %%r8; mov %%rax, %%r9; mov %%rax, %%r10;"
                     "mov %%rax, %%r11; pcmpeqd %%xmm0, %%xmm0; movaps %%xmm0, %%xmm1;"
                     "movaps %%xmm0, %%xmm2; movaps %%xmm0, %%xmm3; movaps %%xmm0, %%xmm4;"
                     "movaps %%xmm0, %%xmm5; movaps %%xmm0, %%xmm6; movaps %%xmm0, %%xmm7" ::
                         : "rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11", "xmm0",
                           "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
#elif defined __aarch64__
    __asm__ volatile("mov x0, #-1; mov x1, x0; mov x2, x0; mov x3, x0; mov x4, x0; mov x5, x0;"
                     "mov x6, x0; mov x7, x0; mov x8, x0; mov x9, x0; mov x16, x0; mov x17, x0;"
                     "dup v0.2d, x0; dup v1.2d, x0; dup v2.2d, x0; dup v3.2d, x0;"
                     "dup v4.2d, x0; dup v5.2d, x0; dup v6.2d, x0; dup v7.2d, x0" ::
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x16", "x17",
                           "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
#elif defined __riscv
    __asm__ volatile("li a0, -1; mv a1, a0; mv a2, a0; mv a3, a0; mv a4, a0; mv a5, a0; mv a6, a0;"
                     "mv a7, a0; mv t0, a0; mv t1, a0; fmv.d.x fa0, a0; fmv.d fa1, fa0;"
                     "fmv.d fa2, fa0; fmv.d fa3, fa0; fmv.d fa4, fa0; fmv.d fa5, fa0;"
                     "fmv.d fa6, fa0; fmv.d fa7, fa0" ::
                         : "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "fa0", "fa1",
                           "fa2", "fa3", "fa4", "fa5", "fa6", "fa7");
#elif defined __powerpc64__
    __asm__ volatile("li 3, -1; mr 4, 3; mr 5, 3; mr 6, 3; mr 7, 3; mr 8, 3; mr 9, 3; mr 10, 3;"
                     "mr 11, 3; mr 12, 3; mr 0, 3; fsub 1, 1, 1; fmr 2, 1; fmr 3, 1; fmr 4, 1;"
                     "fmr 5, 1; fmr 6, 1; fmr 7, 1; fmr 8, 1; fmr 9, 1; fmr 10, 1; fmr 11, 1;"
                     "fmr 12, 1; fmr 13, 1; vspltisw 2, -1; vspltisw 13, -1" ::
                         : "r0", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12",
                           "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10",
                           "fr11", "fr12", "fr13", "v2", "v13");
#endif
}

void *pc_mpi_resolve(unsigned slot)
{
    _Alignas(64) volatile char place[64];
    resolved_slot = slot;
    n_resolved++;
    aligned = ((uintptr_t)__builtin_frame_address(0) & 15) == 0 && ((uintptr_t)place & 63) == 0;
    n_frames = 0;
    _Unwind_Backtrace(note_frame, NULL);
    spoil_registers();
    return target;
}

/* ---- Targets -------------------------------------------------------------------------------- */

struct big {
    long a[6];
};

static long seen_words[12];
static double seen_doubles[10];

__attribute__((noinline)) static struct big take_words(long a, long b, long c, long d, long e,
                                                       long f, long g, long h, long i, long j)
{
    long all[] = {a, b, c, d, e, f, g, h, i, j};
    caller_ret = (uintptr_t)__builtin_return_address(0);
    memcpy(seen_words, all, sizeof all);
    return (struct big){{a, c, e, g, i, 42}};
}

__attribute__((noinline)) static double take_doubles(double a, double b, double c, double d,
                                                     double e, double f, double g, double h,
                                                     double i, long j)
{
    double all[] = {a, b, c, d, e, f, g, h, i, (double)j};
    memcpy(seen_doubles, all, sizeof all);
    return a + 1;
}

__attribute__((noinline)) static int take_variadic(int level, ...)
{
    va_list args;
    va_start(args, level);
    seen_words[0] = level;
    for (int i = 0; i < 9; i++)
        seen_doubles[i] = va_arg(args, double);
    seen_words[1] = va_arg(args, long);
    va_end(args);
    return 7;
}

static int give_slot(void)
{
    return (int)resolved_slot + 1000;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static bool has_frame(uintptr_t ret)
{
    for (int i = 0; i < n_frames; i++)
        if (frames[i] == ret)
            return true;
    return false;
}

/* The way in which a function is called may depend on what the compiler knows about it
 * (ppc64le). */
static void *unknown(int (*stub)(void))
{
    __asm__ volatile("" : "+r"(stub));
    return (void *)stub;
}

/* Returns the address to which the stub's target returns. */
__attribute__((noinline)) static uintptr_t pass_words(const char *name)
{
    struct big (*stub)(long, long, long, long, long, long, long, long, long, long) = (struct big(*)(
        long, long, long, long, long, long, long, long, long, long))unknown(MPI_Bcast);
    memset(seen_words, 0, sizeof seen_words);
    struct big b = stub(1, -2, 3, -4, 5, -6, 7, -8, 9, -10);
    bool good = b.a[0] == 1 && b.a[4] == 9 && b.a[5] == 42;
    for (int i = 0; i < 10; i++)
        good = good && seen_words[i] == (i % 2 ? -(i + 1) : i + 1);
    ok(good, name);
    return caller_ret;
}

static void test_words(void)
{
    target = (void *)take_words;
    uintptr_t ret =
        pass_words("words in registers, on the stack and a large result pass the resolver");
    ok(aligned, "the resolver's stack is aligned");
    unwound = has_frame(ret);
    ok(unwound, "the resolver can be unwound to the caller");
    unsigned before = n_resolved;
    atomic_store(&pc_mpi_slots[resolved_slot], target);
    uintptr_t again = pass_words("and the filled slot");
    ok(n_resolved == before, "a filled slot is not resolved again");
    ok(again == ret, "the target returns to the caller");
}

static void test_doubles(void)
{
    double (*stub)(double, double, double, double, double, double, double, double, double, long) =
        (double (*)(double, double, double, double, double, double, double, double, double,
                    long))unknown(MPI_Gather);
    target = (void *)take_doubles;
    bool good = stub(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 2;
    for (int i = 0; i < 10; i++)
        good = good && seen_doubles[i] == i + 1;
    ok(good, "vector registers and a vector result pass the resolver");
}

static void test_variadic(void)
{
    int (*stub)(int, ...) = (int (*)(int, ...))unknown(MPI_Pcontrol);
    target = (void *)take_variadic;
    bool good = stub(-3, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10L) == 7;
    good = good && seen_words[0] == -3 && seen_words[1] == 10;
    for (int i = 0; i < 9; i++)
        good = good && seen_doubles[i] == i + 1;
    ok(good, "a variadic call passes the resolver");
}

static void test_every_slot(void)
{
    bool good = true;
    target = (void *)give_slot;
    for (unsigned i = 0; i < PC_ARRAY_LEN(stubs); i++) {
        if (stubs[i].slot == 2 * PC_OP_Bcast)
            continue; /* filled above */
        resolved_slot = 99999;
        if (stubs[i].stub() == (int)stubs[i].slot + 1000)
            continue;
        good = false;
        printf("# %s asks for slot %u\n", stubs[i].name, resolved_slot);
    }
    ok(good && PC_ARRAY_LEN(stubs) == PC_N_SLOTS, "every stub asks for its own slot");
}

int main(void)
{
#if PC_STUB_ASSEMBLY
    test_words();
    test_doubles();
    test_variadic();
#endif
    test_every_slot();
    printf("1..%d\n", tests);
    return failures != 0;
}
