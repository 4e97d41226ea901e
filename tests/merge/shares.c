/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `shares CONTEXTS [HOW RANK]`: each rank sends itself messages from as many contexts, more and
 * longer ones the higher its rank, in two phases. Prints calls and bytes of each rank in each
 * phase. Before MPI_Finalize the rank RANK makes writing impossible for itself: `limit`: files have
 * 4 KiB at most; `die`: it is killed in the middle of the first long write.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_BYTES = 64, LONG_BYTES = 1 << 16 };

static int rank, size, dies;
static long done[2][2]; /* by phase: calls, bytes */

/* Takes the place of the function of libc in all of the process. */
ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    if (dies && n > LONG_BYTES) {
        syscall(SYS_pwrite64, fd, data, n / 2, at);
        raise(SIGKILL);
    }
    return syscall(SYS_pwrite64, fd, data, n, at);
}

static void send_some(int phase, long context)
{
    char out[MOST_BYTES] = "", in[MOST_BYTES];
    int n_calls = 1 + (int)(context + rank) % 2, n_bytes = rank % MOST_BYTES + 1;
    for (int i = 0; i < n_calls; i++)
        MPI_Sendrecv(out, n_bytes, MPI_CHAR, 0, 1, in, n_bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    done[phase][0] += n_calls;
    done[phase][1] += (long)n_calls * n_bytes;
}

/* Calls from each of up to 2^depth contexts. A third of these only a half of the ranks has. */
static __attribute__((noinline)) void call_from(int phase, int depth, long context, long n)
{
    if (!depth && context < n && (context % 3 || rank % 2))
        send_some(phase, context);
    if (!depth)
        return;
    call_from(phase, depth - 1, 2 * context, n);
    __asm__ volatile("" : : : "memory"); /* two calls, neither of them the last */
    call_from(phase, depth - 1, 2 * context + 1, n);
    __asm__ volatile("" : : : "memory");
}

static void print_all(void)
{
    long *all = calloc((size_t)size, sizeof done);
    PMPI_Gather(done, 4, MPI_LONG, all, 4, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int phase = 0; phase < 2 && !rank; phase++)
        for (int r = 0; r < size; r++)
            printf("%d\t%d\t%ld\t%ld\n", phase + 3, r, all[4 * r + 2 * phase],
                   all[4 * r + 2 * phase + 1]);
    fflush(stdout);
    free(all);
}

int main(int argc, char **argv)
{
    int depth = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long n = argc > 1 ? atol(argv[1]) : 100;
    while (1L << depth < n)
        depth++;
    for (int phase = 0; phase < 2; phase++) {
        MPI_Pcontrol(phase + 3);
        call_from(phase, depth, 0, n);
    }
    MPI_Pcontrol(1);
    print_all();
    if (argc > 3 && atoi(argv[3]) == rank) {
        struct rlimit small = {4096, 4096};
        dies = strcmp(argv[2], "die") == 0;
        if (!dies)
            setrlimit(RLIMIT_FSIZE, &small);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
