/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PART_H
#define PART_H

#ifdef __cplusplus
extern "C" {
#endif

extern volatile int sink;
int part_outer(int x);
void part_last(int x);
int part_helper(int x);

static inline __attribute__((always_inline)) int part_square(int x)
{
    return part_helper(x) * part_helper(x + 1);
}

#ifdef __cplusplus
}
#endif

#endif
