/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program for communicators: makes one in every way, uses it, and writes what it made. Each
 * communicator is named; its first member writes to file ARGUMENT.RANK
 *
 *     name <tab> primitive <tab> size <tab> remote size <tab> freed
 *
 * The profile must have each of these lines once, whatever the number of members. MPI_Barrier is
 * called on each communicator.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static FILE *said; /* NULL: nothing is written */

/* Names, uses and, unless kept, frees a communicator. */
static void use(MPI_Comm *comm, const char *name, const char *how, int keep)
{
    int mine, n, n_remote = 0, inter;
    if (*comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_name(*comm, name);
    PMPI_Comm_rank(*comm, &mine);
    PMPI_Comm_size(*comm, &n);
    PMPI_Comm_test_inter(*comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(*comm, &n_remote);
    /* The group with world rank 0 writes for an intercommunicator. */
    if (said && mine == 0 && (!inter || rank == 0))
        fprintf(said, "%s\t%s\t%d\t%d\t%s\n", name, how, n, n_remote, keep ? "no" : "yes");
    MPI_Barrier(*comm);
    if (!keep)
        MPI_Comm_free(comm);
}

static void copies(void)
{
    MPI_Comm a, b, c;
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &b);
    MPI_Comm_idup(b, &c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    use(&c, "idup", "MPI_Comm_idup", 0);
    use(&b, "dup_with_info", "MPI_Comm_dup_with_info", 0);
    use(&a, "dup", "MPI_Comm_dup", 0);
}

static void parts(void)
{
    char name[32];
    MPI_Comm a;
    MPI_Group world, some;
    int half = size / 2, first[1][3] = {{0, half - 1, 1}}, rest[1][3] = {{half, size - 1, 1}};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 7 : 5, -rank, &a);
    snprintf(name, sizeof name, "split %d", rank % 2 ? 7 : 5);
    use(&a, name, "MPI_Comm_split", 1); /* never freed */
    MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 1, 0, &a);
    use(&a, "alone", "MPI_Comm_split", 0);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &a);
    use(&a, "split_type", "MPI_Comm_split_type", 0);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, rank < half ? first : rest, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &a); /* two siblings by one call */
    use(&a, rank < half ? "create low" : "create high", "MPI_Comm_create", 0);
    for (int i = 0; i < 2; i++) { /* two communicators from one group and tag are two */
        if (rank >= half)
            continue;
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 9, &a);
        use(&a, i ? "create_group 1" : "create_group 0", "MPI_Comm_create_group", 0);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

static void shapes(void)
{
    MPI_Comm cart, row, a;
    int dims[2] = {0, 0}, periods[2] = {0, 0}, keep[2] = {0, 1}, at[2];
    int left = (rank + size - 1) % size, right = (rank + 1) % size, one = 1;
    int *index = malloc((size_t)size * sizeof *index),
        *edges = malloc((size_t)size * sizeof *edges);
    char name[32];
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_sub(cart, keep, &row);
    MPI_Cart_coords(cart, rank, 2, at);
    snprintf(name, sizeof name, "row %d", at[0]);
    use(&row, name, "MPI_Cart_sub", 0);
    use(&cart, "cart", "MPI_Cart_create", 0);
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &a);
    use(&a, "graph", "MPI_Graph_create", 0);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &right, &one, MPI_INFO_NULL, 0, &a);
    use(&a, "dist_graph", "MPI_Dist_graph_create", 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &one, 1, &right, &one, MPI_INFO_NULL,
                                   0, &a);
    use(&a, "adjacent", "MPI_Dist_graph_create_adjacent", 0);
    free(index);
    free(edges);
}

static void bridges(void)
{
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    use(&half, rank % 2 ? "odd" : "even", "MPI_Comm_split", 1);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    use(&merged, "merged", "MPI_Intercomm_merge", 0);
    use(&inter, "bridge", "MPI_Intercomm_create", 0);
    MPI_Comm_free(&half);
}

/* Starts persistent requests of one communicator together, twice, and once with some of another. */
static void starts(void)
{
    MPI_Comm half;
    MPI_Request r[4];
    int mine, one[4] = {0};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    PMPI_Comm_rank(half, &mine);
    MPI_Send_init(&one[0], 1, MPI_INT, mine, 1, half, &r[0]);
    MPI_Recv_init(&one[1], 1, MPI_INT, mine, 1, half, &r[1]);
    MPI_Send_init(&one[2], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(&one[3], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[3]);
    for (int i = 0; i < 3; i++) {
        int n = i < 2 ? 2 : 4;
        MPI_Startall(n, r);
        MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
    use(&half, rank % 2 ? "starts odd" : "starts even", "MPI_Comm_split", 0);
}

#if MPI_VERSION >= 4
/* Uses a session beside MPI_Init: its processes are those of MPI_COMM_WORLD. */
static void later_kinds(void)
{
    MPI_Session session;
    MPI_Group world, mine, theirs;
    MPI_Comm a;
    MPI_Request r;
    int odd[1][3] = {{1, size - 1, 2}}, even[1][3] = {{0, size - 2, 2}};
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &a, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    use(&a, "idup_with_info", "MPI_Comm_idup_with_info", 0);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &a);
    use(&a, "from_group", "MPI_Comm_create_from_group", 0);
    MPI_Group_range_incl(world, 1, rank % 2 ? odd : even, &mine);
    MPI_Group_range_incl(world, 1, rank % 2 ? even : odd, &theirs);
    MPI_Comm_create_from_group(mine, "part", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &a);
    use(&a, rank % 2 ? "from_group odd" : "from_group even", "MPI_Comm_create_from_group", 0);
    MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "both", MPI_INFO_NULL,
                                     MPI_ERRORS_ARE_FATAL, &a);
    use(&a, "bridge from_groups", "MPI_Intercomm_create_from_groups", 0);
    MPI_Group_free(&theirs);
    MPI_Group_free(&mine);
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
}
#else
static void later_kinds(void)
{
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", argc > 1 ? argv[1] : "", rank);
    if (argc > 1 && !(said = fopen(path, "w")))
        MPI_Abort(MPI_COMM_WORLD, 1);
    copies();
    parts();
    shapes();
    bridges();
    starts();
    later_kinds();
    if (said && fclose(said))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
