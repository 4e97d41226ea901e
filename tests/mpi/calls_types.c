/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes, packing, and messages of derived datatypes. Compiled twice.
 */
#include "tests/mpi/calls.h"

/* clang-format off: a call is one line of source */

enum { TAG = 4 };

#define FREE MPI(Type_free, 0, 0, (&t))

static int in[256], out[256];

TRUTH_FUNCTION static void made(void)
{
    MPI_Datatype t, kinds[] = {MPI_INT, MPI_CHAR};
    count_type lengths[] = {1, 2}, sizes[] = {8, 8}, parts[] = {2, 2}, starts[] = {1, 1};
    count_type places[] = {0, 4};
    int no_args[] = {MPI_DISTRIBUTE_DFLT_DARG}, blocks[] = {MPI_DISTRIBUTE_BLOCK}, one[] = {1};
    extent_type bytes[] = {0, 16};
    ENTER;
    X(Type_contiguous, 0, 0, (3, MPI_INT, &t));
    FREE;
    X(Type_vector, 0, 0, (2, 1, 3, MPI_INT, &t));
    FREE;
    X(Type_create_hvector, 0, 0, (2, 1, 12, MPI_INT, &t));
    FREE;
    X(Type_indexed, 0, 0, (2, lengths, places, MPI_INT, &t));
    FREE;
    X(Type_create_indexed_block, 0, 0, (2, 1, places, MPI_INT, &t));
    FREE;
    X(Type_create_hindexed, 0, 0, (2, lengths, bytes, MPI_INT, &t));
    FREE;
    X(Type_create_hindexed_block, 0, 0, (2, 1, bytes, MPI_INT, &t));
    FREE;
    X(Type_create_struct, 0, 0, (2, lengths, bytes, kinds, &t));
    FREE;
    X(Type_create_subarray, 0, 0, (2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t));
    FREE;
    X(Type_create_darray, 0, 0, (1, 0, 1, sizes, blocks, no_args, one, MPI_ORDER_C, MPI_INT, &t));
    FREE;
    X(Type_create_resized, 0, 0, (MPI_INT, 0, 16, &t));
    FREE;
    LEAVE;
}

TRUTH_FUNCTION static void packed(void)
{
    count_type n;
    extent_type place = 0, size;
    char buffer[256];
    ENTER;
    X(Pack_external_size, 0, 0, ("external32", 3, MPI_INT, &size));
    X(Pack_external, 0, 0, ("external32", out, 3, MPI_INT, buffer, 256, &place));
    place = 0;
    X(Unpack_external, 0, 0, ("external32", buffer, 256, &place, in, 3, MPI_INT));
    X(Pack_size, 0, 0, (3, MPI_INT, MPI_COMM_SELF, &n));
    n = 0;
    X(Pack, 0, 0, (out, 3, MPI_INT, buffer, 256, &n, MPI_COMM_SELF));
    n = 0;
    X(Unpack, 0, 0, (buffer, 256, &n, in, 3, MPI_INT, MPI_COMM_SELF));
    LEAVE;
}

/* Two of a struct of int and two char behind a gap: 12 bytes. The handle is freed at once and
 * likely given out again for a type of another size. */
TRUTH_FUNCTION static void sent(const struct calls *p, int second)
{
    MPI_Datatype t, kinds[] = {MPI_INT, second ? MPI_DOUBLE : MPI_CHAR};
    count_type lengths[] = {1, 2};
    extent_type bytes[] = {0, 16};
    uint64_t size = 2 * (4 + (second ? 16 : 2));
    MPI_Request r;
    ENTER;
    X(Type_create_struct, 0, 0, (2, lengths, bytes, kinds, &t));
    MPI(Type_commit, 0, 0, (&t));
    X(Irecv, 0, size, (in, 2, t, p->left, TAG, p->c, &r));
    X(Send, size, 0, (out, 2, t, p->right, TAG, p->c));
    MPI(Type_free, 0, 0, (&t));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void asked(void)
{
    extent_type lower, extent;
    count_type size;
    ENTER;
    X(Type_size, 0, 0, (MPI_INT, &size));
    X(Type_get_extent, 0, 0, (MPI_INT, &lower, &extent));
    X(Type_get_true_extent, 0, 0, (MPI_INT, &lower, &extent));
#ifdef CALLS_LARGE
    MPI_Count ni, na, nc, nt;
    int combiner;
    MPI_Datatype t, old[1];
    int integers[4];
    MPI_Aint addresses[1];
    MPI_Count counts[1];
    X(Type_contiguous, 0, 0, (3, MPI_INT, &t));
    MPI(Type_get_envelope_c, 0, 0, (t, &ni, &na, &nc, &nt, &combiner));
    MPI(Type_get_contents_c, 0, 0, (t, ni, na, nc, nt, integers, addresses, counts, old));
    FREE;
#endif
    LEAVE;
}

TRUTH_FUNCTION void CALLS(calls_types)(const struct calls *p)
{
    ENTER;
    DO(made());
    DO(packed());
    DO(asked());
    for (int i = 0; i < 4; i++)
        DO(sent(p, i & 1));
    LEAVE;
}
