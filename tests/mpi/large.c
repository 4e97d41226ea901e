/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program of calls that move more than 2^31 bytes each, by a datatype of 1 MiB and, with MPI
 * 4, by large counts. Collectives of one rank in place move nothing, but count as any other;
 * `large move`, on two ranks, sends, broadcasts, writes and reads these bytes. The data are one MiB
 * of memory, many times over.
 */
#include "tests/mpi/truth.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((uint64_t)1 << 20)
#define N 2049 /* MiB a call */
#define BYTES (N * MIB)

static char *room;
static MPI_Datatype part, same; /* one MiB; N times this same MiB */

static void check(int fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "large: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

TRUTH_FUNCTION static void make_types(void)
{
    ENTER;
    MPI(Type_contiguous, 0, 0, ((int)MIB, MPI_BYTE, &part));
    MPI(Type_commit, 0, 0, (&part));
    MPI(Type_create_hvector, 0, 0, (N, 1, 0, part, &same));
    MPI(Type_commit, 0, 0, (&same));
    LEAVE;
}

TRUTH_FUNCTION static void alone(void)
{
    MPI_Request r;
    ENTER;
    MPI(Bcast, BYTES, 0, (room, N, part, 0, MPI_COMM_SELF));
    MPI(Ibcast, BYTES, 0, (room, 1, same, 0, MPI_COMM_SELF, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Allgather, BYTES, BYTES, (MPI_IN_PLACE, 0, part, room, N, part, MPI_COMM_SELF));
    MPI(Alltoall, BYTES, BYTES, (MPI_IN_PLACE, 0, part, room, N, part, MPI_COMM_SELF));
    MPI(Gather, BYTES, BYTES, (MPI_IN_PLACE, 0, part, room, N, part, 0, MPI_COMM_SELF));
    LEAVE;
}

TRUTH_FUNCTION static void messages(int rank)
{
    MPI_Request r;
    ENTER;
    if (rank == 0) {
        MPI(Send, BYTES, 0, (room, 1, same, 1, 1, MPI_COMM_WORLD));
        MPI(Isend, BYTES, 0, (room, 1, same, 1, 2, MPI_COMM_WORLD, &r));
        MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    } else {
        MPI(Recv, 0, BYTES, (room, N, part, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(room[0] == 1 && room[BYTES - 1] == 1, "what was sent is not what was received");
        MPI(Irecv, 0, BYTES, (room, N + 1, part, 0, 2, MPI_COMM_WORLD, &r));
        MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    }
    LEAVE;
}

TRUTH_FUNCTION static void broadcast(int rank)
{
    ENTER;
    MPI(Bcast, rank ? BYTES : 0, rank ? 0 : BYTES, (room, N, part, 1, MPI_COMM_WORLD));
    check(room[BYTES - 1] == 1, "what was broadcast has not come");
    LEAVE;
}

TRUTH_FUNCTION static void file(int rank)
{
    char name[4096];
    MPI_File f;
    snprintf(name, sizeof name, "%s/large", getenv("TRUTH_DIR"));
    ENTER;
    if (rank == 0) {
        MPI(File_open, 0, 0,
            (MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
             MPI_INFO_NULL, &f));
        MPI(File_write_at, BYTES, 0, (f, 0, room, N, part, MPI_STATUS_IGNORE));
        memset(room, 0, BYTES);
        MPI(File_read_at, 0, BYTES, (f, 0, room, N, part, MPI_STATUS_IGNORE));
        check(room[0] == 1 && room[BYTES - 1] == 1, "what was written is not what was read");
        MPI(File_close, 0, 0, (&f));
    }
    LEAVE;
}

#if MPI_VERSION >= 4
TRUTH_FUNCTION static void alone_by_count(void)
{
    ENTER;
    MPI(Bcast_c, BYTES, 0, (room, BYTES, MPI_BYTE, 0, MPI_COMM_SELF));
    MPI(Allgather_c, BYTES, BYTES,
        (MPI_IN_PLACE, 0, MPI_BYTE, room, BYTES, MPI_BYTE, MPI_COMM_SELF));
    LEAVE;
}

TRUTH_FUNCTION static void messages_by_count(int rank)
{
    ENTER;
    if (rank == 0)
        MPI(Send_c, BYTES, 0, (room, BYTES, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    else
        MPI(Recv_c, 0, BYTES, (room, BYTES, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(Bcast_c, rank ? 0 : BYTES, rank ? BYTES : 0, (room, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD));
    LEAVE;
}
#endif

int main(int argc, char **argv)
{
    int rank, moves = argc > 1 && !strcmp(argv[1], "move");
    ENTER;
    MPI(Init, 0, 0, (&argc, &argv));
    MPI(Comm_rank, 0, 0, (MPI_COMM_WORLD, &rank));
    truth_rank(rank);
    room = mmap(NULL, BYTES + MIB, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(room != MAP_FAILED, "no room");
    DO(make_types());
    DO(alone());
    if (moves) {
        if (rank == 0)
            memset(room, 1, MIB);
        DO(messages(rank));
        DO(broadcast(rank));
        DO(file(rank));
    }
#if MPI_VERSION >= 4
    DO(alone_by_count());
    if (moves)
        DO(messages_by_count(rank));
#endif
    MPI(Type_free, 0, 0, (&same));
    MPI(Type_free, 0, 0, (&part));
    MPI(Finalize, 0, 0, ());
    LEAVE;
    return 0;
}
