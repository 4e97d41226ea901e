/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objects of the truth program that calls every function (calls.h): made before the calls and
 * freed after them.
 */
#include "tests/mpi/calls.h"

#include <stdio.h>
#include <stdlib.h>

/* Rank i of my.c is rank n - 1 - i of the world. Its errors are returned, not fatal. */
TRUTH_FUNCTION static void make_communicators(void)
{
    int yes = 1, no = 0, one = 1, before = (my.rank + my.n - 1) % my.n,
        after = (my.rank + 1) % my.n;
    int ends[8], edges[8];
    ENTER;
    ON(MPI_COMM_WORLD, Comm_split, 0, 0, (MPI_COMM_WORLD, 0, my.rank, &my.c));
    C(Comm_set_name, my.c, "calls");
    C(Comm_set_errhandler, my.c, MPI_ERRORS_RETURN);
    C(Comm_group, my.c, &my.group);
    C(Cart_create, my.c, 1, &my.n, &yes, 0, &my.ring);
    ON(my.ring, Comm_set_name, 0, 0, (my.ring, "ring"));
    C(Cart_create, my.c, 1, &my.n, &no, 0, &my.chain);
    ON(my.chain, Comm_set_name, 0, 0, (my.chain, "chain"));
    for (int i = 0; i < my.n; i++) {
        ends[i] = i + 1;
        edges[i] = (i + 1) % my.n;
    }
    C(Graph_create, my.c, my.n, ends, edges, 0, &my.graph);
    ON(my.graph, Comm_set_name, 0, 0, (my.graph, "graph"));
    C(Dist_graph_create_adjacent, my.c, one, &before, MPI_UNWEIGHTED, one, &after, MPI_UNWEIGHTED,
      MPI_INFO_NULL, 0, &my.dist);
    ON(my.dist, Comm_set_name, 0, 0, (my.dist, "dist"));
    C(Comm_split_type, my.c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &my.node);
    if (my.n > 1) {
        C(Comm_split, my.c, my.rank & 1, 0, &my.side);
        X(Intercomm_create, my.side, 0, my.c, !(my.rank & 1), 9, &my.sides);
    }
    LEAVE;
}

TRUTH_FUNCTION static void make_storage(void)
{
    const char *folder = getenv("TRUTH_DIR");
    ENTER;
    C(Win_create, my.memory, BUFFER, 1, MPI_INFO_NULL, my.c, &my.win);
    X(Win_set_errhandler, my.win, MPI_ERRORS_RETURN);
    X(Win_allocate_shared, 64, 1, MPI_INFO_NULL, my.node, &my.scratch, &my.shared);
    C(Win_create_dynamic, MPI_INFO_NULL, my.c, &my.dynamic);
    snprintf(my.all_name, sizeof my.all_name, "%s/file", folder ? folder : ".");
    snprintf(my.own_name, sizeof my.own_name, "%s/own.%d", folder ? folder : ".", my.rank);
    C(File_open, my.c, my.all_name, FILE_MODE, MPI_INFO_NULL, &my.file);
    X(File_set_size, my.file, FILE_BYTES);
    my.place = my.rank * 4096;
    snprintf(my.all_name, sizeof my.all_name, "%s/alone.%d", folder ? folder : ".", my.rank);
    ON(MPI_COMM_SELF, File_open, 0, 0,
       (MPI_COMM_SELF, my.all_name, FILE_MODE, MPI_INFO_NULL, &my.alone));
    X(File_set_size, my.alone, FILE_BYTES);
    snprintf(my.all_name, sizeof my.all_name, "%s/all", folder ? folder : ".");
    LEAVE;
}

TRUTH_FUNCTION static void make_types(void)
{
    int lengths[] = {1, 2};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype parts[] = {MPI_INT, MPI_CHAR};
    ENTER;
    X(Type_vector, 3, 2, 4, MPI_INT, &my.vector);
    X(Type_commit, &my.vector);
    X(Type_create_struct, 2, lengths, places, parts, &my.gap);
    X(Type_commit, &my.gap);
    X(Type_dup, MPI_INT, &my.copy);
    LEAVE;
}

TRUTH_FUNCTION static void make_others(void)
{
    ENTER;
    X(Info_create, &my.info);
    X(Info_set, my.info, "key", "value");
    X(Comm_create_keyval, MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &my.comm_key, NULL);
    X(Type_create_keyval, MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &my.type_key, NULL);
    X(Win_create_keyval, MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &my.win_key, NULL);
    X(Add_error_class, &my.class);
    X(Add_error_code, my.class, &my.code);
    X(Add_error_string, my.code, "an error");
    X(Status_set_elements, &my.status, MPI_INT, 1);
    X(Status_set_cancelled, &my.status, 0);
#if CALLS_MPI_4
    X(Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &my.session);
    X(Group_from_session_pset, my.session, "mpi://WORLD", &my.session_group);
    X(Session_set_errhandler, my.session, MPI_ERRORS_RETURN); /* MPICH 4.0 forgets the one above */
    int even[][3] = {{0, my.n - 1, 2}}, odd[][3] = {{1, my.n - 1, 2}};
    int is_odd = (my.n - 1 - my.rank) & 1; /* as a rank of the world */
    if (my.n > 1) {
        X(Group_range_incl, my.session_group, 1, is_odd ? odd : even, &my.side_group);
        X(Group_range_incl, my.session_group, 1, is_odd ? even : odd, &my.other_group);
    }
#endif
    LEAVE;
}

TRUTH_FUNCTION void calls_make_objects(void)
{
    ENTER;
    DO(make_communicators());
    DO(make_storage());
    DO(make_types());
    DO(make_others());
    LEAVE;
}

TRUTH_FUNCTION void calls_free_objects(void)
{
    ENTER;
#if CALLS_MPI_4
    if (my.n > 1) {
        X(Group_free, &my.side_group);
        X(Group_free, &my.other_group);
    }
    X(Group_free, &my.session_group);
    X(Session_finalize, &my.session);
#endif
    X(Comm_free_keyval, &my.comm_key);
    X(Type_free_keyval, &my.type_key);
    X(Win_free_keyval, &my.win_key);
    X(Info_free, &my.info);
    X(Type_free, &my.copy);
    X(Type_free, &my.gap);
    X(Type_free, &my.vector);
    X(File_close, &my.alone);
    X(File_close, &my.file);
    C(Win_free, &my.dynamic);
    X(Win_free, &my.shared);
    C(Win_free, &my.win);
    if (my.n > 1) {
        X(Comm_free, &my.sides);
        X(Comm_free, &my.side);
    }
    X(Comm_free, &my.node);
    ON(my.dist, Comm_free, 0, 0, (&my.dist));
    ON(my.graph, Comm_free, 0, 0, (&my.graph));
    ON(my.chain, Comm_free, 0, 0, (&my.chain));
    ON(my.ring, Comm_free, 0, 0, (&my.ring));
    X(Group_free, &my.group);
    C(Comm_free, &my.c);
    LEAVE;
}

/* ---- The tool interface: the first category, and variables of no object ---------------------- */

TRUTH_FUNCTION static void find_category(void)
{
    int n, length = sizeof my.category_name, none = 0, n_cvars, n_pvars, n_categories;
    ENTER;
    X(T_category_get_num, &n);
    if (n > 0)
        X(T_category_get_info, 0, my.category_name, &length, NULL, &none, &n_cvars, &n_pvars,
          &n_categories);
    my.category = n > 0 ? 0 : -1;
    LEAVE;
}

TRUTH_FUNCTION static void find_cvar(void)
{
    int n, verbosity, bind, scope, count;
    MPI_Datatype t;
    MPI_T_enum e;
    ENTER;
    my.cvar = -1;
    X(T_cvar_get_num, &n);
    for (int i = 0; i < n && my.cvar < 0; i++) {
        int length = sizeof my.cvar_name, none = 0;
        X(T_cvar_get_info, i, my.cvar_name, &length, &verbosity, &t, &e, NULL, &none, &bind,
          &scope);
        if (t == MPI_INT && bind == MPI_T_BIND_NO_OBJECT)
            my.cvar = i;
    }
    X(T_cvar_handle_alloc, my.cvar, NULL, &my.cvar_handle, &count);
    LEAVE;
}

TRUTH_FUNCTION static void find_pvar(void)
{
    int n, verbosity, bind, readonly, continuous, atomic, count;
    MPI_Datatype t;
    MPI_T_enum e;
    ENTER;
    my.pvar = -1;
    X(T_pvar_session_create, &my.pvar_session);
    X(T_pvar_get_num, &n);
    for (int i = 0; i < n && my.pvar < 0; i++) {
        int length = sizeof my.pvar_name, none = 0;
        X(T_pvar_get_info, i, my.pvar_name, &length, &verbosity, &my.pvar_class, &t, &e, NULL,
          &none, &bind, &readonly, &continuous, &atomic);
        if (bind == MPI_T_BIND_NO_OBJECT)
            my.pvar = i;
    }
    if (my.pvar >= 0)
        X(T_pvar_handle_alloc, my.pvar_session, my.pvar, NULL, &my.pvar_handle, &count);
    LEAVE;
}

TRUTH_FUNCTION void calls_find_tools(void)
{
    ENTER;
    DO(find_category());
    DO(find_cvar());
    DO(find_pvar());
    LEAVE;
}

TRUTH_FUNCTION void calls_free_tools(void)
{
    ENTER;
    if (my.pvar >= 0)
        X(T_pvar_handle_free, my.pvar_session, &my.pvar_handle);
    X(T_pvar_session_free, &my.pvar_session);
    X(T_cvar_handle_free, &my.cvar_handle);
    LEAVE;
}
