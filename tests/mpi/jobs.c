/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs that begin in unusual ways, and jobs that meet.
 *
 *     jobs spawn       spawns one process, then two, then two, and sends each of them its number
 *     jobs nested      spawns one process, which spawns another; then two programs at once
 *     jobs sessions    uses sessions alone, where the MPI has them
 *     jobs mixed       a session around MPI_Init and MPI_Finalize
 *     jobs halves      one job, of which the odd ranks connect to the even ones
 *     jobs accept F    waits for another job; F is a file that no other test uses
 *     jobs connect F   the other job
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int rank;

/* ---- Spawned -------------------------------------------------------------------------------- */

/* Leaves processes that were spawned. Open MPI 4.1 hangs at times, without pcollect too, if it
 * spawns others while these end. */
static void leave(MPI_Comm *children)
{
    MPI_Comm_disconnect(children);
    usleep(300000);
}

static void spawn_one(char *program, const char *how, int n, int value)
{
    char word[16];
    char *arguments[] = {word, NULL};
    MPI_Comm children;
    snprintf(word, sizeof word, "%s", how);
    MPI_Comm_spawn(program, arguments, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    leave(&children);
}

/* Rank 1 spawns two programs, one process of each. */
static void spawn_two(char *program)
{
    char *programs[] = {program, program};
    char second[] = "second";
    char *arguments[] = {second, NULL}, **both[] = {arguments, arguments};
    int n[] = {1, 1}, value = 1;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;
    MPI_Comm_spawn_multiple(2, programs, both, n, infos, 1, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE);
    MPI_Bcast(&value, 1, MPI_INT, rank == 1 ? MPI_ROOT : MPI_PROC_NULL, children);
    leave(&children);
}

static void child(MPI_Comm parent, char *program, const char *how)
{
    int value = 0, flag;
    MPI_Bcast(&value, 1, MPI_INT, strcmp(how, "second") == 0, parent);
    for (int i = 0; i < value; i++)
        MPI_Initialized(&flag);
    if (strcmp(how, "nest") == 0)
        spawn_one(program, "leaf", 1, 3);
    MPI_Comm_disconnect(&parent);
}

static void parent_of(char *program, const char *how)
{
    if (strcmp(how, "nested") == 0) {
        spawn_one(program, "nest", 1, 2);
        spawn_two(program);
        return;
    }
    spawn_one(program, "leaf", 1, 1);
    spawn_one(program, "leaf", 2, 2);
    spawn_one(program, "leaf", 2, 3);
}

/* ---- Jobs that connect ---------------------------------------------------------------------- */

/* Both sides: a message each way, one of them nonblocking, then a broadcast. */
static void talk(MPI_Comm other, int accepts)
{
    char data[100] = "";
    MPI_Request request;
    MPI_Barrier(other);
    if (rank == 0 && accepts) {
        MPI_Isend(data, 100, MPI_BYTE, 0, 1, other, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(data, 50, MPI_BYTE, 0, 2, other, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Irecv(data, 100, MPI_BYTE, MPI_ANY_SOURCE, 1, other, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(data, 50, MPI_BYTE, 0, 2, other);
    }
    MPI_Bcast(data, 40, MPI_BYTE, !accepts ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
}

static void write_text(const char *file, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.new", file);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    rename(path, file);
}

static void read_text(const char *file, char *text, size_t n)
{
    FILE *f;
    while (!(f = fopen(file, "r")))
        usleep(10000);
    if (!fgets(text, (int)n, f))
        text[0] = '\0';
    fclose(f);
}

/* Joins the two processes of rank 0 by a socket. */
static void join(const char *file, int accepts)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), peer = fd;
    MPI_Comm other;
    char byte = 0;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", file);
    if (accepts) {
        if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1))
            MPI_Abort(MPI_COMM_WORLD, 1);
        peer = accept(fd, NULL, NULL);
    } else {
        while (connect(fd, (struct sockaddr *)&address, sizeof address))
            usleep(10000);
    }
    MPI_Comm_join(peer, &other);
    if (accepts)
        MPI_Send(&byte, 1, MPI_BYTE, 0, 3, other);
    else
        MPI_Recv(&byte, 1, MPI_BYTE, 0, 3, other, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&other);
    close(fd);
}

/* Open MPI's ompi-server keeps names for all jobs; MPICH's names are known in one job alone. */
#ifdef OPEN_MPI
enum { BY_NAME = 1 };
#else
enum { BY_NAME = 0 };
#endif

static void meet(const char *file, int accepts)
{
    char port[MPI_MAX_PORT_NAME] = "", name[] = "pcollect-jobs", socket_path[4096];
    MPI_Comm other;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_global_scope", "true");
    if (rank == 0 && accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        if (BY_NAME)
            MPI_Publish_name(name, info, port);
        write_text(file, port);
    } else if (rank == 0) {
        read_text(file, port, sizeof port);
        if (BY_NAME)
            MPI_Lookup_name(name, info, port);
    }
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    talk(other, accepts);
    MPI_Comm_disconnect(&other);
    if (rank == 0 && accepts && BY_NAME)
        MPI_Unpublish_name(name, info, port);
    if (rank == 0 && accepts)
        MPI_Close_port(port);
    MPI_Info_free(&info);
    snprintf(socket_path, sizeof socket_path, "%s.s", file);
    if (rank == 0)
        join(socket_path, accepts);
}

static void halves(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, other;
    int odd = rank % 2, world = rank;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (odd)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    else
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    PMPI_Comm_rank(half, &rank);
    talk(other, !odd);
    MPI_Comm_disconnect(&other);
    if (world == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

/* ---- Sessions ------------------------------------------------------------------------------- */

#if MPI_VERSION >= 4
static MPI_Comm make_from(MPI_Session session)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "jobs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    return comm;
}

static int count_ranks(MPI_Comm comm)
{
    int in = 1, out = 0;
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    return out;
}

static int sessions(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Comm comm = make_from(session);
    int n = count_ranks(comm);
    if (rank == 0)
        printf("%d\n", n);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

/* Makes and uses communicators of a session before MPI_Init, before MPI_Finalize and after it. */
static int mixed(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Comm before = make_from(session), between, after;
    int n = count_ranks(before);
    MPI_Init(NULL, NULL);
    between = make_from(session);
    n += count_ranks(before) + count_ranks(between) + count_ranks(MPI_COMM_WORLD);
    MPI_Sendrecv(&n, 0, MPI_INT, rank ^ 1, 0, &n, 0, MPI_INT, rank ^ 1, 0, between,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    after = make_from(session);
    n += count_ranks(before) + count_ranks(between) + count_ranks(after);
    if (rank == 0)
        printf("%d\n", n);
    MPI_Comm_free(&before);
    MPI_Comm_free(&between);
    MPI_Comm_free(&after);
    MPI_Session_finalize(&session);
    return 0;
}
#else
static int sessions(void)
{
    return 77;
}

static int mixed(void)
{
    return 77;
}
#endif

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "spawn";
    MPI_Comm parent;
    if (strcmp(how, "sessions") == 0)
        return sessions();
    if (strcmp(how, "mixed") == 0)
        return mixed();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(parent, argv[0], how);
    else if (strcmp(how, "halves") == 0)
        halves();
    else if (argc > 2)
        meet(argv[2], strcmp(how, "accept") == 0);
    else
        parent_of(argv[0], how);
    return MPI_Finalize();
}
