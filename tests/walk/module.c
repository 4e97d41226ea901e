/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library for reload_test, built twice with frames of different sizes (FRAME_BYTES) and equal
 * code otherwise: the same address is in both a return address of `through`. */
#include "tests/walk/frames.h"

void through(leaf_fn leaf, void *arg);

void through(leaf_fn leaf, void *arg)
{
    volatile char block[FRAME_BYTES];
    block[0] = 1;
    leaf(arg);
    block[FRAME_BYTES - 1] = block[0];
}
