/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `mix`: calls inside callbacks of MPI. They are calls of the program: each counts,
 * in the context of the function that called MPI, then the callback.
 */
#include "tests/mpi/mix.h"

#include <stdlib.h>

TRUTH_FUNCTION static void add_up(void *from, void *to, int *n, MPI_Datatype *type)
{
    int size, rank;
    ENTER;
    MPI(Type_size, 0, 0, (*type, &size));
    MPI(Comm_rank, 0, 0, (MPI_COMM_SELF, &rank));
    MPI(Send, 0, 0, (from, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((int *)from)[i];
    LEAVE;
}

/* The MPI library chooses how often it calls the operator; the operator counts its own calls. */
TRUTH_FUNCTION static void reduction(const struct place *p)
{
    int one = 1, sum = 0, sums[2] = {1, 1};
    MPI_Op op;
    ENTER;
    MPI(Op_create, 0, 0, (add_up, 1, &op));
    MPI(Allreduce, 4, 4, (&one, &sum, 1, MPI_INT, op, p->c));
    REQUIRE(sum == p->n);
    MPI(Reduce, 4, p->rank ? 0 : 4, (&one, &sum, 1, MPI_INT, op, 0, p->c));
    MPI(Scan, 4, 4, (&one, &sum, 1, MPI_INT, op, p->c));
    REQUIRE(sum == p->rank + 1);
    MPI(Reduce_local, 0, 0, (sums, sums + 1, 1, MPI_INT, op));
    MPI(Op_free, 0, 0, (&op));
    LEAVE;
}

TRUTH_FUNCTION static int copied(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    int rank;
    (void)key;
    (void)extra;
    ENTER;
    MPI(Comm_rank, 0, 0, (c, &rank));
    MPI(Send, 0, 0, (NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
    *(void **)out = in;
    *flag = 1;
    LEAVE;
    return MPI_SUCCESS;
}

TRUTH_FUNCTION static int deleted(MPI_Comm c, int key, void *value, void *extra)
{
    int size, sum, one = 1;
    (void)key;
    (void)value;
    (void)extra;
    ENTER;
    MPI(Comm_size, 0, 0, (c, &size));
    MPI(Allreduce, 4, 4, (&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    LEAVE;
    return MPI_SUCCESS;
}

TRUTH_FUNCTION static void attributes(const struct place *p)
{
    MPI_Comm a, b;
    int key;
    ENTER;
    MPI(Comm_create_keyval, 0, 0, (copied, deleted, &key, NULL));
    MPI(Comm_dup, 0, 0, (p->c, &a));
    MPI(Comm_set_attr, 0, 0, (a, key, NULL));
    MPI(Comm_dup, 0, 0, (a, &b));
    MPI(Comm_delete_attr, 0, 0, (a, key));
    MPI(Comm_free, 0, 0, (&b));
    MPI(Comm_free, 0, 0, (&a));
    MPI(Comm_free_keyval, 0, 0, (&key));
    LEAVE;
}

static int n_errors;

TRUTH_FUNCTION static void failed(MPI_Comm *c, int *code, ...)
{
    int class;
    (void)c;
    ENTER;
    MPI(Error_class, 0, 0, (*code, &class));
    MPI(Send, 0, 0, (NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
    n_errors += class == MPI_ERR_RANK;
    LEAVE;
}

/* A call that fails counts as a call. It sends no bytes here because its count is 0. */
TRUTH_FUNCTION static void errors(const struct place *p)
{
    MPI_Errhandler handler;
    MPI_Comm c;
    int before = n_errors;
    ENTER;
    MPI(Comm_create_errhandler, 0, 0, (failed, &handler));
    MPI(Comm_dup, 0, 0, (p->c, &c));
    MPI(Comm_set_errhandler, 0, 0, (c, handler));
    MPI(Send, 0, 0, (NULL, 0, MPI_INT, p->n, 0, c));
    MPI(Send, 0, 0, (NULL, 0, MPI_INT, p->n + 5, 0, c));
    MPI(Comm_free, 0, 0, (&c));
    MPI(Errhandler_free, 0, 0, (&handler));
    REQUIRE(n_errors == before + 2);
    LEAVE;
}

void mix_callbacks(const struct place *p)
{
    ENTER;
    DO(reduction(p));
    DO(attributes(p));
    DO(errors(p));
    LEAVE;
}

TRUTH_FUNCTION static int at_end(MPI_Comm c, int key, void *value, void *extra)
{
    int one = 1, sum, n;
    MPI_Status s;
    (void)key;
    (void)value;
    (void)extra;
    ENTER;
    MPI(Sendrecv, 4, 4, (&one, 1, MPI_INT, 0, 0, &sum, 1, MPI_INT, 0, 0, c, &s));
    MPI(Comm_size, 0, 0, (MPI_COMM_WORLD, &n));
    MPI(Allreduce, 4, 4, (&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == n);
    LEAVE;
    return MPI_SUCCESS;
}

void mix_at_finalize(void)
{
    int first, second;
    ENTER;
    MPI(Comm_create_keyval, 0, 0, (MPI_COMM_NULL_COPY_FN, at_end, &first, NULL));
    MPI(Comm_create_keyval, 0, 0, (MPI_COMM_NULL_COPY_FN, at_end, &second, NULL));
    MPI(Comm_set_attr, 0, 0, (MPI_COMM_SELF, first, NULL));
    MPI(Comm_set_attr, 0, 0, (MPI_COMM_SELF, second, NULL));
    LEAVE;
}
