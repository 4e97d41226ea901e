/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a truth program uses to keep its own account: every function says that it is entered and
 * left, every call of its own functions and of MPI says its line and, for MPI, the bytes that it
 * sends and receives by definition (doc: sent is what the send arguments describe, received what
 * the receive arguments describe or, point to point, what arrives; once per call).
 *
 *     static void step(int peer)
 *     {
 *         ENTER;
 *         MPI(Send, 4, 0, (&x, 1, MPI_INT, peer, 0, MPI_COMM_WORLD));
 *         DO(next_step());
 *         LEAVE;
 *     }
 *
 * The library (truth.c, libtruth.so) writes at its destructor, when TRUTH_DIR is set, the file
 * TRUTH_DIR/truth.RANK with lines
 *
 *     count RANK PRIMITIVE CALLS BYTES_SENT BYTES_RECEIVED
 *     context RANK CHAIN PRIMITIVE CALLS BYTES_SENT BYTES_RECEIVED
 *
 * where CHAIN is function:line>function:line>... from the outside to the caller of MPI. A program
 * that says on which communicator it calls, and what went from rank to rank, has also
 *
 *     where RANK PRIMITIVE CALLS BYTES_SENT BYTES_RECEIVED COMMUNICATOR
 *     pair RANK SOURCE DESTINATION CLASS MESSAGES BYTES MESSAGES_RECEIVED BYTES_RECEIVED
 *
 * A macro call must be one line of source: the profiler knows one line for it.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MT-safe; AS-safe unless the signal interrupts one of these functions themselves. */
void truth_enter(const char *function);
void truth_leave(void);
void truth_line(int line);
void truth_call(const char *primitive, int line, uint64_t sent, uint64_t received);

/* The name of the communicator of the next call; without a word it is on none. */
void truth_on(const char *communicator);

/* Messages from one rank of the world to another, as the one that sends and the one that receives
 * them knows. */
void truth_pair(const char *class_name, int source, int destination, uint64_t messages,
                uint64_t bytes);
void truth_pair_received(const char *class_name, int source, int destination, uint64_t messages,
                         uint64_t bytes);

/* Depth of the calling thread's stack of functions: to be set again after a longjmp or a catch. */
int truth_depth(void);
void truth_set_depth(int depth);
/* Another stack for a coroutine: returns the stack that was in use. Stack 0 is the thread's. */
int truth_use_stack(int stack);

/* Before threads are made: they work for the calling thread's stack of functions as it is. In such
 * a thread: true if its stack was empty and is that one now; it is emptied by truth_set_depth(0).
 */
void truth_lend(void);
int truth_borrow(void);

void truth_rank(int rank);
/* Writes now, and never again. For programs that do not reach their end. */
void truth_write(void);

/* Keeps a function from being inlined or cloned. */
#ifdef __clang__
#define TRUTH_FUNCTION __attribute__((noinline))
#else
#define TRUTH_FUNCTION __attribute__((noinline, noclone))
#endif

/* Keeps the call before it from being shared with the same call at another line, and from becoming
 * a jump. */
#define TRUTH_HERE __asm__ volatile("" : : "i"(__LINE__))

#define ENTER truth_enter(__func__)
#define LEAVE truth_leave()
#define DO(call)                                                                                   \
    do {                                                                                           \
        truth_line(__LINE__);                                                                      \
        call;                                                                                      \
        TRUTH_HERE;                                                                                \
    } while (0)
#define MPI(name, sent, received, args)                                                            \
    __extension__({                                                                                \
        truth_call("MPI_" #name, __LINE__, (uint64_t)(sent), (uint64_t)(received));                \
        __typeof__(MPI_##name args) result_ = MPI_##name args;                                     \
        TRUTH_HERE;                                                                                \
        result_;                                                                                   \
    })

#ifdef __cplusplus
}
#endif

#endif
