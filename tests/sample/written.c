/* SPDX-License-Identifier: BSD-3-Clause
 *
 * written FILE MS: writes blocks of 1 MiB over each other in the file, and reads them, until MS ms
 * of CPU time are used.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

static __attribute__((noinline)) int put(int fd, const char *block)
{
    ssize_t n = write(fd, block, BLOCK);
    return n == BLOCK;
}

static __attribute__((noinline)) int get(int fd, char *block)
{
    ssize_t n = read(fd, block, BLOCK);
    return n == BLOCK;
}

int main(int argc, char **argv)
{
    static char block[BLOCK];
    int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1, ok = fd >= 0;
    clock_t end = ok ? (clock_t)(atof(argv[2]) * CLOCKS_PER_SEC / 1000) : 0;
    while (ok && clock() < end)
        ok = put(fd, block) && lseek(fd, 0, SEEK_SET) == 0 && get(fd, block) &&
             lseek(fd, 0, SEEK_SET) == 0;
    return !ok;
}
