/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names that the rows of calls.tbl may use, and so the program that calls.awk makes of them. The
 * program runs on a communicator whose ranks are those of the world in reverse order. In a second
 * round it runs on a chain, where the first and the last rank have MPI_PROC_NULL as a neighbour.
 */
#ifndef CALLS_H
#define CALLS_H

#include "tests/mpi/truth.h"

#include <mpi.h>
#include <stddef.h>

#define CALLS_MPI_4 (MPI_VERSION >= 4) /* has large counts, sessions, partitions, ... */
#define FILE_MODE (MPI_MODE_CREATE | MPI_MODE_RDWR)

enum { BUFFER = 1 << 16, FILE_BYTES = 1 << 16 };

struct calls {
    int rank, n;
    int right, left; /* neighbours; on the chain MPI_PROC_NULL at its ends */
    int next, last;  /* right and left neighbour on the ring, always */
    int is_chain;

    /* Random choices for a function, equal on all ranks. */
    int base, root, tag;
    MPI_Datatype type;
    MPI_Aint size; /* of type */

    /* Objects that exist during the whole run. */
    MPI_Comm c, near, ring, chain, graph, dist, node, side, sides;
    MPI_Group group;
    MPI_Info info;
    MPI_Win win, shared, dynamic;
    MPI_File file, alone, temporary;
    MPI_Offset place; /* of this rank in the file */
    MPI_Datatype vector, gap, copy;
    MPI_Request r[3];
    MPI_Status status;
    int comm_key, type_key, win_key, class, code;
    void *scratch;
    char all_name[4096], own_name[4096];
    char in[BUFFER], out[BUFFER], attached[BUFFER], memory[BUFFER];
#if CALLS_MPI_4
    MPI_Session session;
    MPI_Group session_group, side_group, other_group;
#endif
    MPI_T_cvar_handle cvar_handle;
    MPI_T_pvar_session pvar_session;
    MPI_T_pvar_handle pvar_handle;
    int category, cvar, pvar, pvar_class; /* -1: there is none */
    char category_name[256], cvar_name[256], pvar_name[256];
};

extern struct calls my;

/* X: a call that moves no bytes, on no communicator. C: one on my.c. ON: any call on `comm`. */
#define X(name, ...) MPI(name, 0, 0, (__VA_ARGS__))
#define C(name, ...) ON(my.c, name, 0, 0, (__VA_ARGS__))
#define ON(comm, name, sent, received, args)                                                       \
    __extension__({                                                                                \
        on(comm);                                                                                  \
        MPI(name, sent, received, args);                                                           \
    })

/* ---- Facts of a row's call ------------------------------------------------------------------ */

/* Chooses count, datatype (predefined, if it is `numeric`), root and tag by the function's name. */
void choose(const char *name, int numeric);
/* Notes the communicator of the next call. */
void on(MPI_Comm comm);
/* The communicator over which a window was made. */
MPI_Comm comm_of(MPI_Win win);
/* Count a message to a rank, or from one. One-sided operations are counted by their origin alone.
 */
void went(int one_sided, int rank, MPI_Aint bytes);
void came(int one_sided, int rank, MPI_Aint bytes);
void check(int rc, const char *name);

/* ---- Counts --------------------------------------------------------------------------------- */

MPI_Aint size_of(MPI_Datatype type);
int n_of(int rank);                   /* elements of a rank */
int n_of_all(void);                   /* elements of all ranks */
int n_between(int source, int other); /* elements from one rank to another */
int n_row(int source), n_column(int other);
int neighbours_in(void), neighbours_out(void); /* in my.near */

static inline MPI_Aint moved(MPI_Aint count, MPI_Datatype type, int rank)
{
    return rank == MPI_PROC_NULL ? 0 : count * size_of(type);
}

static inline MPI_Aint at_root(MPI_Aint bytes)
{
    return my.rank == my.root ? bytes : 0;
}

static inline MPI_Aint elsewhere(MPI_Aint bytes)
{
    return my.rank == my.root ? 0 : bytes;
}

/* ---- Calls before and after ----------------------------------------------------------------- */

void expect(void);   /* posts a receive from the left neighbour */
void offer(void);    /* posts a send to the right neighbour */
void settle(void);   /* completes either of the two */
void together(void); /* a barrier */
void match(MPI_Message *message);
void take(void); /* receives from the left neighbour, and completes the own send */
void take_matched(MPI_Message *message);
void attach(void);
void detach(void);
void exchange(MPI_Request *receive, MPI_Request *send);
void reduce_by(MPI_Op op);

/* Four partitions of my.base elements: my.r[0] sends, my.r[1] receives. */
void make_parts(void);
void start_parts(void);
void ready(int first, int last);
void end_parts(void);

/* ---- Callbacks ------------------------------------------------------------------------------ */

void ignore_comm(MPI_Comm *c, int *code, ...);
void ignore_file(MPI_File *f, int *code, ...);
void ignore_window(MPI_Win *w, int *code, ...);
void add_ints(void *in, void *inout, int *n, MPI_Datatype *type);
int fill_status(void *state, MPI_Status *s);
int free_nothing(void *state);
int cancel_nothing(void *state, int done);
#if CALLS_MPI_4
void ignore_session(MPI_Session *s, int *code, ...);
void add_many(void *in, void *inout, MPI_Count *n, MPI_Datatype *type);
#endif

/* ---- The program ---------------------------------------------------------------------------- */

void calls_make_objects(void);
void calls_free_objects(void);
void calls_find_tools(void);
void calls_free_tools(void);
void calls_of_table(void); /* made by calls.awk */

#endif
