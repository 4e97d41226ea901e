/* SPDX-License-Identifier: BSD-3-Clause
 * Frames without optimisation. */
#if defined __clang__
#pragma clang optimize off
#else
#pragma GCC optimize("O0")
#endif
#define FRAMES frames_o0
#include "tests/walk/frames.inc"
