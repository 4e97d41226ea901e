/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of a truth program that calls every function of the table that can be called
 * on a few ranks. Files with calls that have a twin for large counts are compiled twice: X(name,
 * ...) is MPI(name, ...), and with CALLS_LARGE MPI(name_c, ...).
 */
#ifndef CALLS_H
#define CALLS_H

#include "tests/mpi/truth.h"

#include <mpi.h>

#define CALLS_MPI_4 (MPI_VERSION >= 4) /* has large counts, sessions, partitions, ... */
#define INTS(n) ((n) * sizeof(int))

struct calls {
    MPI_Comm c;
    int rank, n, right, left;
    const char *folder; /* for files */
};

#if defined CALLS_LARGE
#define X(name, ...) MPI(name##_c, __VA_ARGS__)
#define CALLS(function) function##_large
typedef MPI_Count count_type;
typedef MPI_Aint disp_type;
typedef MPI_Count extent_type;
#else
#define X(name, ...) MPI(name, __VA_ARGS__)
#define CALLS(function) function
typedef int count_type;
typedef int disp_type;
typedef MPI_Aint extent_type;
#endif

void calls_messages(const struct calls *p);
void calls_collectives(const struct calls *p);
void calls_neighbours(const struct calls *p);
void calls_windows(const struct calls *p);
void calls_files(const struct calls *p);
void calls_types(const struct calls *p);
void calls_messages_large(const struct calls *p);
void calls_collectives_large(const struct calls *p);
void calls_neighbours_large(const struct calls *p);
void calls_windows_large(const struct calls *p);
void calls_files_large(const struct calls *p);
void calls_types_large(const struct calls *p);
void calls_objects(const struct calls *p);
void calls_removed(const struct calls *p);
void calls_tools(const struct calls *p);

#endif
