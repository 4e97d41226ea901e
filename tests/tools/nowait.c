/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded, for tests: a program that calls usleep ends with status 9.
 */
#include <stdio.h>
#include <unistd.h>

int usleep(useconds_t us)
{
    fprintf(stderr, "waits for %u us\n", us);
    _exit(9);
}
