/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Code with inlined calls of several depths, some through a header, for the test of symbols. The
 * volatile variable keeps the calls.
 */
#include "part.h"

volatile int sink;

static __attribute__((noinline)) int leaf(int x)
{
    sink += x;
    return sink;
}

static inline __attribute__((always_inline)) int inner(int x)
{
    return leaf(x + 1) + 1;
}

static inline __attribute__((always_inline)) int middle(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++) {
        sum += inner(i);
        if (sum > 100)
            sum += inner(-i) + part_square(sum);
    }
    return sum;
}

int part_outer(int x)
{
    int a = middle(x);
    return a + middle(a) + leaf(a);
}

/* Called last in its function: the return address is that of the next function. */
__attribute__((noreturn, noinline)) void part_stop(int status);

__attribute__((noinline)) void part_last(int x)
{
    leaf(x);
    part_stop(x);
}

void part_stop(int status)
{
    for (;;)
        sink = leaf(status);
}
