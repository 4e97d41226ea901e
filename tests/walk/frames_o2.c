/* SPDX-License-Identifier: BSD-3-Clause
 * Frames with optimisation, with frame pointers as the project compiles them. */
#if !defined __clang__
#pragma GCC optimize("O2")
#endif
#define FRAMES frames_o2
#include "tests/walk/frames.inc"
