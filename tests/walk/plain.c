/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks from all places through all kinds of frames, compared with glibc's walk, without a test
 * framework: for processors other than the one that builds, and for C++. Prints one line,
 * "walks N wrong N cut N", and a line on standard error for each pair that failed.
 */
#define _GNU_SOURCE 1

#include "tests/walk/frames.h"
#include "tests/walk/walkers.h"

#include <execinfo.h>
#include <stdio.h>
#include <string.h>

/* Null unless the program is linked with frames_cxx.cc. */
extern const struct frame_kind frames_cxx[] __attribute__((weak));

static int n_walks, n_wrong, n_cut;

#if defined __powerpc64__
/* Here glibc's backtrace() follows the chain of frames, which skips signal frames without a vdso.
 */
#include <unwind.h>

struct list {
    void **pc;
    int n, most;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
    struct list *list = arg;
    if (list->n < list->most && _Unwind_GetIP(context))
        list->pc[list->n++] = (void *)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static int take_backtrace(void **pc, int most)
{
    struct list list = {pc, 0, most};
    _Unwind_Backtrace(add_frame, &list);
    return list.n;
}
#else
#define take_backtrace backtrace
#endif

/* True if glibc's list is equal to ours, from our first frame on. */
static bool equals_glibc(const struct frames *ours)
{
    void *theirs[MAX_FRAMES];
    int n = take_backtrace(theirs, MAX_FRAMES), skip = 0;
    while (skip < n && (uintptr_t)theirs[skip] != ours->pc[0])
        skip++;
    return n - skip == ours->n &&
           !memcmp(theirs + skip, ours->pc, sizeof *theirs * (size_t)ours->n);
}

/* True if the walk from the interrupted frame is the end of the walk from the handler. */
static bool is_tail(const struct frames *whole, const struct frames *tail)
{
    int at = whole->n - tail->n;
    return at > 0 && !memcmp(whole->pc + at, tail->pc, sizeof *tail->pc * (size_t)tail->n);
}

__attribute__((noinline)) static void compare_leaf(void *arg)
{
    struct frames f, g;
    struct pc_walk walk = START_WALK(own_stack());
    (void)arg;
    walk_all(walk, &f);
    n_walks++;
    n_wrong += !equals_glibc(&f);
    n_cut += f.end != PC_STEP_END;
    if (!signal_context)
        return;
    pc_walk_from_context(&walk, (const void *)signal_context, own_stack());
    walk_all(walk, &g);
    n_wrong += !is_tail(&f, &g);
    n_cut += g.end != PC_STEP_END;
}

/* With any argument, signals are left out: qemu-user has its own layout of their frames for
 * ppc64le. */
int main(int argc, char **argv)
{
    const bool no_signals = argc > 1 && argv[1];
    static const struct frame_kind *const sets[] = {frames_o0, frames_o2, frames_omit, frames_cxx};
    void *warm_up[4];
    take_backtrace(warm_up, 4);
    for (size_t s = 0; s < PC_ARRAY_LEN(sets); s++) {
        for (const struct frame_kind *k = sets[s]; k && k->name; k++) {
            for (const struct place *p = places; p->name; p++) {
                if (no_signals && strstr(p->name, "handler"))
                    continue;
                int before = n_wrong + n_cut;
                p->run(k, compare_leaf, NULL);
                if (n_wrong + n_cut > before)
                    fprintf(stderr, "set %zu, %s from %s: wrong %d, cut %d in all\n", s, k->name,
                            p->name, n_wrong, n_cut);
            }
        }
    }
    printf("walks %d wrong %d cut %d\n", n_walks, n_wrong, n_cut);
    return 0;
}
