/* SPDX-License-Identifier: BSD-3-Clause
 * Frames with optimisation and without frame pointers: compiled with -fomit-frame-pointer. */
#if !defined __clang__
#pragma GCC optimize("O2", "omit-frame-pointer")
#endif
#define FRAMES frames_omit
#include "tests/walk/frames.inc"
