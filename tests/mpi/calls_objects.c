/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects that move no data: attributes, info, error handlers, groups, communicators, topologies,
 * types asked about, operations, requests of the program's own, processes, sessions.
 */
#include "tests/mpi/calls.h"

#include <stdio.h>

/* clang-format off: a call is one line of source */

static void ignore_error(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
}

static void ignore_file(MPI_File *f, int *code, ...)
{
    (void)f, (void)code;
}

static void ignore_window(MPI_Win *w, int *code, ...)
{
    (void)w, (void)code;
}

/* The same four calls for communicators, types and windows. */
#define ATTRIBUTES(Kind, COPY, DELETE, handle)                                                     \
    do {                                                                                           \
        MPI(Kind##_create_keyval, 0, 0, (COPY, DELETE, &key, NULL));                               \
        MPI(Kind##_set_attr, 0, 0, (handle, key, &value));                                         \
        MPI(Kind##_get_attr, 0, 0, (handle, key, &back, &flag));                                   \
        MPI(Kind##_delete_attr, 0, 0, (handle, key));                                              \
        MPI(Kind##_free_keyval, 0, 0, (&key));                                                     \
    } while (0)

TRUTH_FUNCTION static void attributes(const struct calls *p)
{
    int key, value = 0, flag;
    void *back;
    MPI_Datatype t;
    MPI_Win w;
    ENTER;
    ATTRIBUTES(Comm, MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, p->c);
    MPI(Type_dup, 0, 0, (MPI_INT, &t));
    ATTRIBUTES(Type, MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, t);
    MPI(Type_free, 0, 0, (&t));
    MPI(Win_create, 0, 0, (NULL, 0, 1, MPI_INFO_NULL, p->c, &w));
    ATTRIBUTES(Win, MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, w);
    MPI(Win_free, 0, 0, (&w));
    MPI(Keyval_create, 0, 0, (MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL));
    MPI(Attr_put, 0, 0, (p->c, key, &value));
    MPI(Attr_get, 0, 0, (p->c, key, &back, &flag));
    MPI(Attr_delete, 0, 0, (p->c, key));
    MPI(Keyval_free, 0, 0, (&key));
    LEAVE;
}

TRUTH_FUNCTION static void infos(const struct calls *p)
{
    MPI_Info info, copy;
    char text[64];
    int flag, n;
    ENTER;
    MPI(Info_create, 0, 0, (&info));
    MPI(Info_set, 0, 0, (info, "key", "value"));
    MPI(Info_get, 0, 0, (info, "key", 63, text, &flag));
    MPI(Info_get_valuelen, 0, 0, (info, "key", &n, &flag));
    MPI(Info_get_nkeys, 0, 0, (info, &n));
    MPI(Info_get_nthkey, 0, 0, (info, 0, text));
    MPI(Info_dup, 0, 0, (info, &copy));
    MPI(Info_delete, 0, 0, (copy, "key"));
#if CALLS_MPI_4
    n = sizeof text;
    MPI(Info_get_string, 0, 0, (info, "key", &n, text, &flag));
    MPI(Info_free, 0, 0, (&copy));
    MPI(Info_create_env, 0, 0, (0, NULL, &copy));
#endif
    MPI(Comm_set_info, 0, 0, (p->c, info));
    MPI(Info_free, 0, 0, (&info));
    MPI(Info_free, 0, 0, (&copy));
    MPI(Comm_get_info, 0, 0, (p->c, &info));
    MPI(Info_free, 0, 0, (&info));
    LEAVE;
}

#define HANDLERS(Kind, fn, handle)                                                                 \
    do {                                                                                           \
        MPI(Kind##_create_errhandler, 0, 0, (fn, &made));                                          \
        MPI(Kind##_get_errhandler, 0, 0, (handle, &old));                                          \
        MPI(Kind##_set_errhandler, 0, 0, (handle, made));                                          \
        MPI(Kind##_call_errhandler, 0, 0, (handle, MPI_ERR_OTHER));                                \
        MPI(Kind##_set_errhandler, 0, 0, (handle, old));                                           \
        MPI(Errhandler_free, 0, 0, (&made));                                                       \
        MPI(Errhandler_free, 0, 0, (&old));                                                        \
    } while (0)

TRUTH_FUNCTION static void errors(const struct calls *p)
{
    MPI_Errhandler made, old;
    MPI_File f;
    char file[4096];
    MPI_Win w;
    char text[MPI_MAX_ERROR_STRING];
    int class, code, n;
    ENTER;
    HANDLERS(Comm, ignore_error, p->c);
    MPI(Win_create, 0, 0, (NULL, 0, 1, MPI_INFO_NULL, p->c, &w));
    HANDLERS(Win, ignore_window, w);
    MPI(Win_free, 0, 0, (&w));
    snprintf(file, sizeof file, "%s/errors.%d", p->folder, p->rank);
    MPI(File_open, 0, 0, (MPI_COMM_SELF, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    HANDLERS(File, ignore_file, f);
    MPI(File_close, 0, 0, (&f));
    MPI(Add_error_class, 0, 0, (&class));
    MPI(Add_error_code, 0, 0, (class, &code));
    MPI(Add_error_string, 0, 0, (code, "an error"));
    MPI(Error_class, 0, 0, (code, &class));
    MPI(Error_string, 0, 0, (code, text, &n));
    LEAVE;
}

TRUTH_FUNCTION static void groups(const struct calls *p)
{
    MPI_Group all, g, h;
    MPI_Comm c;
    int first = 0, got, range[1][3] = {{0, 0, 1}};
    ENTER;
    MPI(Comm_group, 0, 0, (p->c, &all));
    MPI(Group_size, 0, 0, (all, &got));
    MPI(Group_rank, 0, 0, (all, &got));
    MPI(Group_incl, 0, 0, (all, 1, &first, &g));
    MPI(Group_translate_ranks, 0, 0, (g, 1, &first, all, &got));
    MPI(Group_compare, 0, 0, (g, all, &got));
    MPI(Group_union, 0, 0, (g, all, &h));
    MPI(Group_free, 0, 0, (&h));
    MPI(Group_intersection, 0, 0, (g, all, &h));
    MPI(Group_free, 0, 0, (&h));
    MPI(Group_difference, 0, 0, (all, all, &h));
    MPI(Group_excl, 0, 0, (all, 0, NULL, &h));
    MPI(Group_free, 0, 0, (&h));
    MPI(Group_range_incl, 0, 0, (all, 1, range, &h));
    MPI(Group_free, 0, 0, (&h));
    MPI(Group_range_excl, 0, 0, (all, 0, range, &h));
    MPI(Group_free, 0, 0, (&h));
    MPI(Comm_create_group, 0, 0, (p->c, all, 7, &c));
    MPI(Comm_free, 0, 0, (&c));
    MPI(Comm_create, 0, 0, (p->c, all, &c));
    MPI(Comm_disconnect, 0, 0, (&c));
    MPI(Group_free, 0, 0, (&g));
    MPI(Group_free, 0, 0, (&all));
    LEAVE;
}

TRUTH_FUNCTION static void communicators(const struct calls *p)
{
    MPI_Comm c;
    MPI_Request r;
    char name[MPI_MAX_OBJECT_NAME];
    int got;
    ENTER;
    MPI(Comm_compare, 0, 0, (p->c, MPI_COMM_SELF, &got));
    MPI(Comm_test_inter, 0, 0, (p->c, &got));
    MPI(Comm_set_name, 0, 0, (p->c, "a name"));
    MPI(Comm_get_name, 0, 0, (p->c, name, &got));
    MPI(Comm_get_parent, 0, 0, (&c));
    MPI(Comm_split, 0, 0, (p->c, 0, 0, &c));
    MPI(Comm_free, 0, 0, (&c));
    MPI(Comm_dup_with_info, 0, 0, (p->c, MPI_INFO_NULL, &c));
    MPI(Comm_free, 0, 0, (&c));
    MPI(Comm_idup, 0, 0, (p->c, &c, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Comm_free, 0, 0, (&c));
#if CALLS_MPI_4
    MPI(Comm_idup_with_info, 0, 0, (p->c, MPI_INFO_NULL, &c, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Comm_free, 0, 0, (&c));
#endif
    LEAVE;
}

/* Even ranks on one side, odd ones on the other. */
TRUTH_FUNCTION static void two_sides(const struct calls *p)
{
    MPI_Comm side, both, merged;
    MPI_Group g;
    int n, odd = p->rank & 1;
    ENTER;
    if (p->n > 1) {
        MPI(Comm_split, 0, 0, (p->c, odd, 0, &side));
        MPI(Intercomm_create, 0, 0, (side, 0, p->c, !odd, 9, &both));
        MPI(Comm_remote_size, 0, 0, (both, &n));
        MPI(Comm_remote_group, 0, 0, (both, &g));
        MPI(Group_free, 0, 0, (&g));
        MPI(Intercomm_merge, 0, 0, (both, odd, &merged));
        MPI(Comm_free, 0, 0, (&merged));
        MPI(Comm_free, 0, 0, (&both));
        MPI(Comm_free, 0, 0, (&side));
    }
    LEAVE;
}

TRUTH_FUNCTION static void grids(const struct calls *p)
{
    MPI_Comm grid, part;
    int dims[] = {0}, periods[] = {1}, coords[] = {0}, remain[] = {1}, got, other;
    ENTER;
    MPI(Dims_create, 0, 0, (p->n, 1, dims));
    MPI(Cart_map, 0, 0, (p->c, 1, dims, periods, &got));
    MPI(Cart_create, 0, 0, (p->c, 1, dims, periods, 0, &grid));
    MPI(Topo_test, 0, 0, (grid, &got));
    MPI(Cartdim_get, 0, 0, (grid, &got));
    MPI(Cart_get, 0, 0, (grid, 1, dims, periods, coords));
    MPI(Cart_rank, 0, 0, (grid, coords, &got));
    MPI(Cart_coords, 0, 0, (grid, p->rank, 1, coords));
    MPI(Cart_shift, 0, 0, (grid, 0, 1, &got, &other));
    MPI(Cart_sub, 0, 0, (grid, remain, &part));
    MPI(Comm_free, 0, 0, (&part));
    MPI(Comm_free, 0, 0, (&grid));
    LEAVE;
}

/* A ring as a graph in both forms. */
TRUTH_FUNCTION static void graphs(const struct calls *p)
{
    MPI_Comm graph;
    int ends[8], edges[8], got[8], weights[8], n, m, weighted, one = 1, right = p->right;
    ENTER;
    for (int i = 0; i < p->n; i++) {
        ends[i] = i + 1;
        edges[i] = (i + 1) % p->n;
    }
    MPI(Graph_map, 0, 0, (p->c, p->n, ends, edges, &n));
    MPI(Graph_create, 0, 0, (p->c, p->n, ends, edges, 0, &graph));
    MPI(Graphdims_get, 0, 0, (graph, &n, &m));
    MPI(Graph_get, 0, 0, (graph, n, m, ends, edges));
    MPI(Graph_neighbors_count, 0, 0, (graph, p->rank, &n));
    MPI(Graph_neighbors, 0, 0, (graph, p->rank, n, got));
    MPI(Comm_free, 0, 0, (&graph));
    MPI(Dist_graph_create_adjacent, 0, 0,
        (p->c, 1, &p->left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    MPI(Dist_graph_neighbors_count, 0, 0, (graph, &n, &m, &weighted));
    MPI(Dist_graph_neighbors, 0, 0, (graph, n, got, weights, m, got + 4, weights + 4));
    MPI(Comm_free, 0, 0, (&graph));
    MPI(Dist_graph_create, 0, 0,
        (p->c, 1, &p->rank, &one, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    MPI(Comm_free, 0, 0, (&graph));
    LEAVE;
}

TRUTH_FUNCTION static void types(void)
{
    MPI_Datatype t, old[1];
    char name[MPI_MAX_OBJECT_NAME];
    int a, b, c, d;
    int integers[4];
    MPI_Aint addresses[1];
    MPI_Count lower, extent;
    ENTER;
    MPI(Type_contiguous, 0, 0, (2, MPI_INT, &t));
    MPI(Type_commit, 0, 0, (&t));
    MPI(Type_get_envelope, 0, 0, (t, &a, &b, &c, &d));
    MPI(Type_get_contents, 0, 0, (t, a, b, c, integers, addresses, old));
    MPI(Type_set_name, 0, 0, (t, "pair"));
    MPI(Type_get_name, 0, 0, (t, name, &a));
    MPI(Type_size_x, 0, 0, (t, &extent));
    MPI(Type_get_extent_x, 0, 0, (t, &lower, &extent));
    MPI(Type_get_true_extent_x, 0, 0, (t, &lower, &extent));
    MPI(Type_free, 0, 0, (&t));
    MPI(Type_match_size, 0, 0, (MPI_TYPECLASS_INTEGER, 4, &t));
    MPI(Type_create_f90_real, 0, 0, (6, 30, &t));
    MPI(Type_create_f90_integer, 0, 0, (6, &t));
    MPI(Type_create_f90_complex, 0, 0, (6, 30, &t));
    MPI(Get_address, 0, 0, (name, addresses));
    LEAVE;
}

static void add_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

#if CALLS_MPI_4
static void add_many(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}
#endif

TRUTH_FUNCTION static void operations(const struct calls *p)
{
    MPI_Op op;
    int in = 1, out, commutes;
    ENTER;
    MPI(Op_create, 0, 0, (add_ints, 1, &op));
    MPI(Op_commutative, 0, 0, (op, &commutes));
    MPI(Allreduce, INTS(1), INTS(1), (&in, &out, 1, MPI_INT, op, p->c));
    MPI(Op_free, 0, 0, (&op));
#if CALLS_MPI_4
    MPI(Op_create_c, 0, 0, (add_many, 1, &op));
    MPI(Allreduce, INTS(1), INTS(1), (&in, &out, 1, MPI_INT, op, p->c));
    MPI(Op_free, 0, 0, (&op));
#endif
    LEAVE;
}

static int fill_status(void *state, MPI_Status *s)
{
    (void)state;
    PMPI_Status_set_elements(s, MPI_INT, 0);
    PMPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = s->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int free_nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *state, int done)
{
    (void)state, (void)done;
    return MPI_SUCCESS;
}

TRUTH_FUNCTION static void requests(const struct calls *p)
{
    MPI_Request r[2];
    MPI_Status s, all[2];
    MPI_Message m;
    int flag, n, places[2], x = 0, y;
    ENTER;
    MPI(Grequest_start, 0, 0, (fill_status, free_nothing, cancel_nothing, NULL, &r[0]));
    MPI(Grequest_complete, 0, 0, (r[0]));
    MPI(Request_get_status, 0, 0, (r[0], &flag, &s));
    MPI(Wait, 0, 0, (&r[0], MPI_STATUS_IGNORE));
    MPI(Status_set_elements, 0, 0, (&s, MPI_INT, 1));
    MPI(Status_set_elements_x, 0, 0, (&s, MPI_INT, 1));
    MPI(Status_set_cancelled, 0, 0, (&s, 0));
    MPI(Test_cancelled, 0, 0, (&s, &flag));
    MPI_Count many;
    MPI(Get_elements_x, 0, 0, (&s, MPI_INT, &many));
    MPI(Iprobe, 0, 0, (p->left, 13, p->c, &flag, &s));
    MPI(Improbe, 0, 0, (p->left, 13, p->c, &flag, &m, &s));
    MPI(Irecv, 0, 0, (&y, 1, MPI_INT, p->left, 12, p->c, &r[0]));
    MPI(Cancel, 0, 0, (&r[0]));
    MPI(Wait, 0, 0, (&r[0], MPI_STATUS_IGNORE));
    MPI(Irecv, 0, INTS(1), (&y, 1, MPI_INT, p->left, 11, p->c, &r[0]));
    MPI(Isend, INTS(1), 0, (&x, 1, MPI_INT, p->right, 11, p->c, &r[1]));
    for (n = 0; n < 1;)
        MPI(Testall, 0, 0, (2, r, &n, all));
    MPI(Isend, INTS(1), 0, (&x, 1, MPI_INT, p->right, 11, p->c, &r[0]));
    MPI(Probe, 0, 0, (p->left, 11, p->c, &s));
    MPI(Recv, 0, INTS(1), (&y, 1, MPI_INT, p->left, 11, p->c, &s));
    MPI(Waitany, 0, 0, (1, r, &n, &s));
    MPI(Waitsome, 0, 0, (1, r, &n, places, all));
    MPI(Testsome, 0, 0, (1, r, &n, places, all));
    MPI(Testany, 0, 0, (1, r, &n, &flag, &s));
    MPI(Test, 0, 0, (&r[0], &flag, &s));
    LEAVE;
}

TRUTH_FUNCTION static void environment(const struct calls *p)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_PROCESSOR_NAME];
    int n, m;
    void *memory;
    (void)p;
    ENTER;
    MPI(Initialized, 0, 0, (&n));
    MPI(Finalized, 0, 0, (&n));
    MPI(Pcontrol, 0, 0, (1));
    MPI(Query_thread, 0, 0, (&n));
    MPI(Is_thread_main, 0, 0, (&n));
    MPI(Get_processor_name, 0, 0, (text, &n));
    MPI(Get_version, 0, 0, (&n, &m));
    MPI(Get_library_version, 0, 0, (text, &n));
    MPI(Alloc_mem, 0, 0, (64, MPI_INFO_NULL, &memory));
    MPI(Free_mem, 0, 0, (memory));
    LEAVE;
}

#if CALLS_MPI_4
static void ignore_session(MPI_Session *s, int *code, ...)
{
    (void)s, (void)code;
}

TRUTH_FUNCTION static void sessions(const struct calls *p)
{
    MPI_Session s;
    MPI_Info info;
    MPI_Group g;
    MPI_Comm c, both;
    MPI_Errhandler made, old;
    char name[256];
    int n, length = sizeof name;
    ENTER;
    MPI(Session_init, 0, 0, (MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    MPI(Session_get_info, 0, 0, (s, &info));
    MPI(Info_free, 0, 0, (&info));
    MPI(Session_get_num_psets, 0, 0, (s, MPI_INFO_NULL, &n));
    MPI(Session_get_nth_pset, 0, 0, (s, MPI_INFO_NULL, 0, &length, name));
    MPI(Session_get_pset_info, 0, 0, (s, "mpi://WORLD", &info));
    MPI(Info_free, 0, 0, (&info));
    HANDLERS(Session, ignore_session, s);
    MPI(Group_from_session_pset, 0, 0, (s, "mpi://WORLD", &g));
    MPI(Comm_create_from_group, 0, 0, (g, "calls", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    MPI(Comm_free, 0, 0, (&c));
    if (p->n > 1) {
        MPI_Group side, other;
        int range[1][3] = {{p->rank & 1, p->n - 1, 2}},
            rest[1][3] = {{!(p->rank & 1), p->n - 1, 2}};
        MPI(Group_range_incl, 0, 0, (g, 1, range, &side));
        MPI(Group_range_incl, 0, 0, (g, 1, rest, &other));
        MPI(Intercomm_create_from_groups, 0, 0,
            (side, 0, other, 0, "sides", MPI_INFO_NULL, MPI_ERRORS_RETURN, &both));
        MPI(Comm_free, 0, 0, (&both));
        MPI(Group_free, 0, 0, (&side));
        MPI(Group_free, 0, 0, (&other));
    }
    MPI(Group_free, 0, 0, (&g));
    MPI(Session_finalize, 0, 0, (&s));
    LEAVE;
}
#endif

TRUTH_FUNCTION void calls_objects(const struct calls *p)
{
    ENTER;
    DO(environment(p));
    DO(attributes(p));
    DO(infos(p));
    DO(errors(p));
    DO(groups(p));
    DO(communicators(p));
    DO(two_sides(p));
    DO(grids(p));
    DO(graphs(p));
    DO(types());
    DO(operations(p));
    DO(requests(p));
#if CALLS_MPI_4
    DO(sessions(p));
#endif
    LEAVE;
}
