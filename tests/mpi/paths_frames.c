/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `paths`: many paths through one wrapper, frames of varying size, recursion,
 * callbacks from a foreign library.
 */
#include "tests/mpi/paths.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>

/* ---- 64 functions that call one wrapper, from two lines of one function ---------------------- */

TRUTH_FUNCTION static void inner_wrapper(void)
{
    ENTER;
    TOUCH;
    LEAVE;
}

TRUTH_FUNCTION static void wrapper(void)
{
    ENTER;
    DO(inner_wrapper());
    TOUCH;
    LEAVE;
}

#define ONE(n)                                                                                     \
    TRUTH_FUNCTION static void path_##n(void)                                                      \
    {                                                                                              \
        ENTER;                                                                                     \
        DO(wrapper());                                                                             \
        LEAVE;                                                                                     \
    }
/* clang-format off */
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
EIGHT(0) EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7)
#define FOUR(n, a, b, c, d) path_##n##a, path_##n##b, path_##n##c, path_##n##d
#define NAMES(n) FOUR(n, 0, 1, 2, 3), FOUR(n, 4, 5, 6, 7)

static void (*const paths[64])(void) = {
    NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
};
/* clang-format on */

void paths_wrappers(void)
{
    ENTER;
    for (int i = 0; i < 500; i++)
        DO(paths[i % 2]());
    for (int i = 0; i < 1000; i++)
        DO(paths[paths_draw(8)]());
    for (int i = 0; i < 5000; i++)
        DO(paths[paths_draw(64)]());
    LEAVE;
}

/* ---- Frames whose size is known at run time only --------------------------------------------- */

TRUTH_FUNCTION static void with_array(unsigned n)
{
    ENTER;
    char array[n];
    HOLD(array);
    TOUCH;
    DO(wrapper());
    LEAVE;
}

TRUTH_FUNCTION static void with_alloca(unsigned n)
{
    ENTER;
    for (int i = 0; i < 3; i++) {
        memset(alloca(n), 1, n);
        DO(wrapper());
    }
    LEAVE;
}

TRUTH_FUNCTION static void array_below(unsigned n)
{
    ENTER;
    char array[n];
    HOLD(array);
    DO(with_array(n / 2 + 1));
    DO(with_alloca(n / 3 + 1));
    LEAVE;
}

void paths_variable_frames(void)
{
    ENTER;
    for (int i = 0; i < 300; i++) {
        unsigned n = 1 + paths_draw(2000);
        DO(with_array(n));
        DO(with_alloca(n));
        DO(array_below(n));
    }
    LEAVE;
}

/* ---- Recursion: equal return addresses at different depths ----------------------------------- */

TRUTH_FUNCTION static void down(int n)
{
    ENTER;
    if (n)
        DO(down(n - 1));
    else
        TOUCH;
    LEAVE;
}

TRUTH_FUNCTION static void pong(int n);

TRUTH_FUNCTION static void ping(int n)
{
    ENTER;
    TOUCH;
    if (n)
        DO(pong(n - 1));
    LEAVE;
}

TRUTH_FUNCTION static void pong(int n)
{
    char room[200];
    ENTER;
    HOLD(room);
    if (n)
        DO(ping(n - 1));
    TOUCH;
    if (n > 1)
        DO(pong(n - 2));
    LEAVE;
}

void paths_recursion(void)
{
    ENTER;
    for (int i = 0; i < 300; i++)
        DO(down((int)paths_draw(20)));
    for (int i = 0; i < 100; i++)
        DO(ping((int)paths_draw(7)));
    LEAVE;
}

void paths_deep(void)
{
    ENTER;
    for (int i = 0; i < 50; i++)
        DO(down((int)paths_draw(300)));
    LEAVE;
}

/* ---- Callbacks from qsort, whose own frames lie between at varying depth --------------------- */

TRUTH_FUNCTION static int compare(const void *a, const void *b)
{
    ENTER;
    TOUCH;
    LEAVE;
    return *(const int *)a - *(const int *)b;
}

void paths_libc_callback(void)
{
    int numbers[100];
    ENTER;
    for (int i = 0; i < 100; i++)
        numbers[i] = (int)paths_draw(1000);
    DO(qsort(numbers, 100, sizeof numbers[0], compare));
    LEAVE;
}
