/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Maps a file of its own whose name is like that of an arena, below all others, and stays in the
 * job until the file `mapped`, which it makes, is gone.
 */
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *low = (void *)0x10000000;
    int fd = open("data.arena", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) ||
        mmap(low, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
        return 1;
    MPI_Init(&argc, &argv);
    close(open("mapped", O_CREAT | O_WRONLY, 0600));
    while (access("mapped", F_OK) == 0)
        usleep(1000);
    MPI_Finalize();
}
