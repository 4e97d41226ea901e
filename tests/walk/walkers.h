/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole walks for tests: from the caller of the function that uses START_WALK, or from the context
 * of a signal.
 */
#ifndef TEST_WALKERS_H
#define TEST_WALKERS_H

#include "libcollect/walk/walk.h"

#include <pthread.h>

#define MAX_FRAMES 512
#define MAX_WORDS (MAX_FRAMES * PC_STEP_MAX_WORDS)

struct frames {
    uintptr_t pc[MAX_FRAMES];
    int n;
    enum pc_step_result end;
    bool registers;
    struct pc_word words[MAX_WORDS];
    int n_words;
};

static inline struct pc_stack own_stack(void)
{
    pthread_attr_t attr;
    void *lo;
    size_t n;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &lo, &n);
    pthread_attr_destroy(&attr);
    return (struct pc_stack){(uintptr_t)lo, (uintptr_t)lo + n};
}

/* The state in the caller of this function, as the wrappers of MPI functions take it. */
#define START_WALK(bounds)                                                                         \
    (pc_loadmap_prepare((uintptr_t)__builtin_return_address(0)),                                   \
     (struct pc_walk){.pc = (uintptr_t)__builtin_return_address(0),                                \
                      .sp = (uintptr_t)__builtin_dwarf_cfa(),                                      \
                      .fp_loc = PC_SAVED_FP,                                                       \
                      .stack = (bounds)})

static inline void walk_all(struct pc_walk walk, struct frames *f)
{
    f->n = f->n_words = 0;
    f->end = PC_STEP_OK;
    f->registers = false;
    while (f->end == PC_STEP_OK && f->n < MAX_FRAMES) {
        struct pc_step step;
        f->pc[f->n++] = walk.pc;
        f->end = pc_walk_step(&walk, &step);
        f->registers |= step.registers;
        for (int i = 0; i < step.n_words && f->end == PC_STEP_OK; i++)
            f->words[f->n_words++] = step.words[i];
    }
}

#endif
