/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the truth program `mix` (mix.c): each makes every call of one kind, with sizes that
 * differ by rank and use, on a private duplicate of the world.
 */
#ifndef MIX_H
#define MIX_H

#include "tests/mpi/truth.h"

#include <mpi.h>

/* A communicator, this rank in it, and its neighbours on a ring. */
struct place {
    MPI_Comm c;
    int rank, n;
    int right, left;
};

void mix_blocking(const struct place *p);
void mix_traffic(const struct place *p);
void mix_nonblocking(const struct place *p);
void mix_tests(const struct place *p);
void mix_persistent(const struct place *p);
void mix_collectives(const struct place *p);
void mix_collectives_vector(const struct place *p);
void mix_collectives_nonblocking(const struct place *p);
void mix_communicators(const struct place *p);
void mix_intercommunicator(const struct place *p);
void mix_callbacks(const struct place *p);

/* Sets attributes on MPI_COMM_SELF whose delete callback calls MPI inside MPI_Finalize. */
void mix_at_finalize(void);

/* Ends the job, with a message, if the condition does not hold. */
void mix_require(int condition, const char *text, int line);
#define REQUIRE(condition) mix_require(condition, #condition, __LINE__)

#endif
