/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs that begin in unusual ways.
 *
 *     jobs spawn       spawns one process, then two, and sends each of them something
 *     jobs sessions    uses sessions alone, where the MPI has them
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static void child(MPI_Comm parent)
{
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    MPI_Comm_disconnect(&parent);
}

static void spawn(char *program)
{
    char *arguments[] = {"spawn", NULL};
    int rank, value = 7;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int n = 1; n <= 2; n++) {
        MPI_Comm children;
        MPI_Comm_spawn(program, arguments, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
        MPI_Comm_disconnect(&children);
    }
}

#if MPI_VERSION >= 4
static int sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, in = 1, out;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "jobs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("%d\n", out);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
#else
static int sessions(void)
{
    return 77;
}
#endif

int main(int argc, char **argv)
{
    MPI_Comm parent;
    if (argc > 1 && strcmp(argv[1], "sessions") == 0)
        return sessions();
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(parent);
    else
        spawn(argv[0]);
    return MPI_Finalize();
}
