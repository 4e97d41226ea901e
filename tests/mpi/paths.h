/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the truth program `paths` (paths.c): call paths that a cache of contexts confuses if
 * it compares too few words of the stack.
 */
#ifndef PATHS_H
#define PATHS_H

#include "tests/mpi/truth.h"

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pseudo-random numbers below `below`, the same in every run. */
unsigned paths_draw(unsigned below);

/* Ends the program if the condition does not hold: the case would prove nothing. */
void paths_require(int condition, const char *text, int line);
#define REQUIRE(condition) paths_require(condition, #condition, __LINE__)

/* Parts with one thread. */
void paths_wrappers(void);
void paths_variable_frames(void);
void paths_recursion(void);
void paths_libc_callback(void);
void paths_register(void);
void paths_reload(void);
void paths_longjmp(void);
void paths_signals(void);
void paths_coroutines(void);
void paths_throw(void);

/* Recursion deeper than the frames that the profiler takes. */
void paths_deep(void);

/* Parts that need MPI_THREAD_MULTIPLE. */
void paths_pthreads(void);
void paths_openmp(void);

#ifdef __cplusplus
}
#endif

/* An MPI call from this line that has no effect. */
#define TOUCH MPI(Send, 0, 0, (NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF))

/* Keeps an array that nobody reads. */
#define HOLD(array) __asm__ volatile("" : : "r"(array) : "memory")

#endif
