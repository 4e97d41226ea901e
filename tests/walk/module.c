/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library for reload_test, built with frames of different sizes (FRAME_BYTES) but otherwise equal
 * code, so that one address is a return address of `through` in all builds. */
#include "tests/walk/frames.h"

void through(leaf_fn leaf, void *arg);

void through(leaf_fn leaf, void *arg)
{
    volatile char block[FRAME_BYTES];
    block[0] = 1;
    leaf(arg);
    block[FRAME_BYTES - 1] = block[0];
}
