/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions and macros with which a truth program keeps its own account. Every function notes when
 * it is entered and left. Every call of its own functions and of MPI notes its line and, for MPI,
 * the bytes that it sends and receives by definition, once per call: the bytes sent are those that
 * the send arguments describe; the bytes received are those that the receive arguments describe
 * or, point to point, those that arrive.
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
 * where CHAIN is function:line>function:line>... from the outermost function to the caller of MPI.
 * A program that notes the communicators of its calls, and the messages between ranks, has also
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

/* Sets the name of the communicator of the next call. A call without it is on none. */
void truth_on(const char *communicator);

/* Count messages from one world rank to another: truth_pair at the sender, truth_pair_received at
 * the receiver. */
void truth_pair(const char *class_name, int source, int destination, uint64_t messages,
                uint64_t bytes);
void truth_pair_received(const char *class_name, int source, int destination, uint64_t messages,
                         uint64_t bytes);

/* Depth of the calling thread's stack of functions. It must be set again after a longjmp or a
 * catch. */
int truth_depth(void);
void truth_set_depth(int depth);
/* Switches to another stack, for a coroutine. Returns the stack that was in use. Stack 0 is the
 * thread's. */
int truth_use_stack(int stack);

/* truth_lend keeps a copy of the calling thread's stack of functions, before it makes threads. In
 * such a thread truth_borrow takes this copy if its own stack is empty, and returns true if so.
 * Then truth_set_depth(0) empties the stack again. */
void truth_lend(void);
int truth_borrow(void);

void truth_rank(int rank);
/* Writes the file now, and not again at the end. For programs that do not reach their end. */
void truth_write(void);

/* Keeps a function from being inlined or cloned. */
#ifdef __clang__
#define TRUTH_FUNCTION __attribute__((noinline))
#else
#define TRUTH_FUNCTION __attribute__((noinline, noclone))
#endif

/* Keeps the compiler from merging the call before it with an equal call at another line, and from
 * making it a tail call. */
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
