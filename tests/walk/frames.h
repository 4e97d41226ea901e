/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions with frames of every kind, compiled once per set of compiler options (frames.inc), and
 * places in libc from which the walker must find its way out (scenarios.c). Each calls `leaf` as
 * its innermost function.
 */
#ifndef TEST_FRAMES_H
#define TEST_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*leaf_fn)(void *arg);

struct frame_kind {
    const char *name;
    int (*run)(leaf_fn leaf, void *arg, int n);
};

extern const struct frame_kind frames_o0[], frames_o2[], frames_omit[];

/* A place from which `run` calls inner(leaf, arg, n). */
struct place {
    const char *name;
    void (*run)(const struct frame_kind *inner, leaf_fn leaf, void *arg);
};

extern const struct place places[];

/* Context of the signal that is being handled, for leaves that are called from a handler. */
extern const void *volatile signal_context;

#endif
