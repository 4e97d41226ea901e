/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that all ranks write and read: at explicit places, by the rank's own and the shared
 * pointer, alone and together, at once, nonblocking and in halves. Compiled twice.
 */
#include "tests/mpi/calls.h"

#include <stdio.h>

/* clang-format off: a call is one line of source */

enum { N = 4 };

static int in[16], out[16];

#define DONE(r) MPI(Wait, 0, 0, (&(r), MPI_STATUS_IGNORE))

TRUTH_FUNCTION static void writes(MPI_File f, MPI_Offset mine)
{
    MPI_Request r;
    ENTER;
    X(File_write_at, INTS(N), 0, (f, mine, out, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_write_at_all, INTS(N), 0, (f, mine, out, N, MPI_INT, MPI_STATUS_IGNORE));
    MPI(File_seek, 0, 0, (f, mine, MPI_SEEK_SET));
    X(File_write, INTS(N), 0, (f, out, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_write_all, INTS(N), 0, (f, out, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_write, 0, 0, (f, out, 0, MPI_INT, MPI_STATUS_IGNORE));
    X(File_iwrite_at, INTS(N), 0, (f, mine, out, N, MPI_INT, &r));
    DONE(r);
    X(File_iwrite_at_all, INTS(N), 0, (f, mine, out, N, MPI_INT, &r));
    DONE(r);
    X(File_iwrite, INTS(N), 0, (f, out, N, MPI_INT, &r));
    DONE(r);
    X(File_iwrite_all, INTS(N), 0, (f, out, N, MPI_INT, &r));
    DONE(r);
    X(File_write_at_all_begin, INTS(N), 0, (f, mine, out, N, MPI_INT));
    MPI(File_write_at_all_end, 0, 0, (f, out, MPI_STATUS_IGNORE));
    X(File_write_all_begin, INTS(N), 0, (f, out, N, MPI_INT));
    MPI(File_write_all_end, 0, 0, (f, out, MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void reads(MPI_File f, MPI_Offset mine)
{
    MPI_Request r;
    ENTER;
    X(File_read_at, 0, INTS(N), (f, mine, in, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_read_at_all, 0, INTS(N), (f, mine, in, N, MPI_INT, MPI_STATUS_IGNORE));
    MPI(File_seek, 0, 0, (f, mine, MPI_SEEK_SET));
    X(File_read, 0, INTS(1), (f, in, 1, MPI_INT, MPI_STATUS_IGNORE));
    X(File_read_all, 0, INTS(1), (f, in, 1, MPI_INT, MPI_STATUS_IGNORE));
    X(File_iread_at, 0, INTS(N), (f, mine, in, N, MPI_INT, &r));
    DONE(r);
    X(File_iread_at_all, 0, INTS(N), (f, mine, in, N, MPI_INT, &r));
    DONE(r);
    X(File_iread, 0, INTS(1), (f, in, 1, MPI_INT, &r));
    DONE(r);
    X(File_iread_all, 0, INTS(1), (f, in, 1, MPI_INT, &r));
    DONE(r);
    X(File_read_at_all_begin, 0, 0, (f, mine, in, N, MPI_INT));
    MPI(File_read_at_all_end, 0, INTS(N), (f, in, MPI_STATUS_IGNORE));
    MPI(File_seek, 0, 0, (f, mine, MPI_SEEK_SET));
    X(File_read_all_begin, 0, 0, (f, in, N, MPI_INT));
    MPI(File_read_all_end, 0, INTS(N), (f, in, MPI_STATUS_IGNORE));
    X(File_read_at, 0, 0, (f, 1 << 20, in, N, MPI_INT, MPI_STATUS_IGNORE));
    LEAVE;
}

/* The shared pointer. Its file is of one rank: some file systems have no locks for more. */
TRUTH_FUNCTION static void shared(MPI_File f)
{
    MPI_Request r;
    ENTER;
    X(File_write_shared, INTS(N), 0, (f, out, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_iwrite_shared, INTS(N), 0, (f, out, N, MPI_INT, &r));
    DONE(r);
    X(File_write_ordered, INTS(N), 0, (f, out, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_write_ordered_begin, INTS(N), 0, (f, out, N, MPI_INT));
    MPI(File_write_ordered_end, 0, 0, (f, out, MPI_STATUS_IGNORE));
    MPI(File_seek_shared, 0, 0, (f, 0, MPI_SEEK_SET));
    X(File_read_shared, 0, INTS(N), (f, in, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_iread_shared, 0, INTS(N), (f, in, N, MPI_INT, &r));
    DONE(r);
    X(File_read_ordered, 0, INTS(N), (f, in, N, MPI_INT, MPI_STATUS_IGNORE));
    X(File_read_ordered_begin, 0, 0, (f, in, N, MPI_INT));
    MPI(File_read_ordered_end, 0, INTS(N), (f, in, MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void asked(MPI_File f)
{
    MPI_Offset o;
    extent_type extent;
    ENTER;
    X(File_get_type_extent, 0, 0, (f, MPI_INT, &extent));
#ifndef CALLS_LARGE
    int i;
    MPI_Group g;
    MPI_Info info;
    MPI_Datatype e, t;
    char rep[MPI_MAX_DATAREP_STRING];
    MPI(File_get_amode, 0, 0, (f, &i));
    MPI(File_set_atomicity, 0, 0, (f, 0));
    MPI(File_get_atomicity, 0, 0, (f, &i));
    MPI(File_get_group, 0, 0, (f, &g));
    MPI(Group_free, 0, 0, (&g));
    MPI(File_get_info, 0, 0, (f, &info));
    MPI(File_set_info, 0, 0, (f, info));
    MPI(Info_free, 0, 0, (&info));
    MPI(File_get_view, 0, 0, (f, &o, &e, &t, rep));
    MPI(File_get_size, 0, 0, (f, &o));
    MPI(File_get_byte_offset, 0, 0, (f, 0, &o));
    MPI(File_get_position_shared, 0, 0, (f, &o));
    MPI(File_preallocate, 0, 0, (f, 4096));
    MPI(File_set_size, 0, 0, (f, 4096));
#endif
    MPI(File_get_position, 0, 0, (f, &o));
    MPI(File_sync, 0, 0, (f));
    LEAVE;
}

TRUTH_FUNCTION void CALLS(calls_files)(const struct calls *p)
{
    char name[4096];
    MPI_File f;
    MPI_Offset mine = (MPI_Offset)(p->rank * 1024);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    ENTER;
    snprintf(name, sizeof name, "%s/file", p->folder);
    MPI(File_open, 0, 0, (p->c, name, mode, MPI_INFO_NULL, &f));
    MPI(File_set_view, 0, 0, (f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    DO(writes(f, mine));
    MPI(File_sync, 0, 0, (f));
    MPI(Barrier, 0, 0, (p->c));
    MPI(File_sync, 0, 0, (f));
    DO(reads(f, mine));
    MPI(File_close, 0, 0, (&f));
    snprintf(name, sizeof name, "%s/file.%d", p->folder, p->rank);
    MPI(File_open, 0, 0, (MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &f));
    DO(shared(f));
    DO(asked(f));
    MPI(File_close, 0, 0, (&f));
    MPI(File_delete, 0, 0, (name, MPI_INFO_NULL));
    LEAVE;
}
