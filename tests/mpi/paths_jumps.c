/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `paths`: calls that do not return to their caller: longjmp out of MPI; also signal
 * handlers on their own stack, and coroutines.
 */
#include "tests/mpi/paths.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES 65536

/* ---- An error handler that never returns ----------------------------------------------------- */

static jmp_buf where;

TRUTH_FUNCTION static void leap(MPI_Comm *c, int *code, ...)
{
    (void)c;
    (void)code;
    ENTER;
    TOUCH;
    LEAVE;
    longjmp(where, 1);
}

TRUTH_FUNCTION static void deeper(int n)
{
    char room[100];
    ENTER;
    HOLD(room);
    TOUCH;
    if (n)
        DO(deeper(n - 1));
    LEAVE;
}

/* The call of MPI_Send never returns. It counts, because it was made. */
TRUTH_FUNCTION static void fail(MPI_Comm c)
{
    ENTER;
    MPI(Send, 0, 0, (NULL, 0, MPI_INT, 1000000, 0, c));
    LEAVE;
}

/* Jumps over the frames of MPI_Send and fail, then calls MPI from a smaller and from a larger depth
 * than that of the call that was left. */
TRUTH_FUNCTION static void jump(MPI_Comm c)
{
    int depth;
    ENTER;
    depth = truth_depth();
    if (!setjmp(where))
        DO(fail(c));
    truth_set_depth(depth);
    DO(deeper(5));
    TOUCH;
    LEAVE;
}

void paths_longjmp(void)
{
    MPI_Errhandler handler;
    MPI_Comm c;
    ENTER;
    MPI(Comm_create_errhandler, 0, 0, (leap, &handler));
    MPI(Comm_dup, 0, 0, (MPI_COMM_SELF, &c));
    MPI(Comm_set_errhandler, 0, 0, (c, handler));
    for (int i = 0; i < 20; i++) {
        DO(jump(c));
        TOUCH;
    }
    MPI(Comm_free, 0, 0, (&c));
    MPI(Errhandler_free, 0, 0, (&handler));
    LEAVE;
}

/* ---- A handler that calls MPI ---------------------------------------------------------------- */

TRUTH_FUNCTION static void in_handler(void)
{
    int flag;
    ENTER;
    MPI(Initialized, 0, 0, (&flag));
    LEAVE;
}

TRUTH_FUNCTION static void on_signal(int number)
{
    (void)number;
    ENTER;
    DO(in_handler());
    LEAVE;
}

TRUTH_FUNCTION static void interrupted(int number, unsigned n)
{
    char room[n + 1];
    ENTER;
    HOLD(room);
    DO(raise(number));
    TOUCH;
    LEAVE;
}

TRUTH_FUNCTION static void interrupted_too(int number)
{
    ENTER;
    DO(interrupted(number, 10));
    DO(raise(number));
    LEAVE;
}

/* An operator of a reduction that is interrupted: a handler inside a callback inside an MPI call.
 */
TRUTH_FUNCTION static void interrupted_sum(void *from, void *to, int *n, MPI_Datatype *type)
{
    (void)type;
    ENTER;
    DO(raise(SIGUSR1));
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((int *)from)[i];
    LEAVE;
}

TRUTH_FUNCTION static void handle(int number, int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

void paths_signals(void)
{
    int one = 1, sum = 1;
    MPI_Op op;
    stack_t other = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
    ENTER;
    REQUIRE(other.ss_sp && sigaltstack(&other, NULL) == 0);
    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGUSR2, 0);
    for (int i = 0; i < 50; i++) {
        DO(interrupted(SIGUSR1, paths_draw(500)));
        DO(interrupted(SIGUSR2, paths_draw(500)));
        DO(interrupted_too(SIGUSR1));
        DO(interrupted_too(SIGUSR2));
    }
    MPI(Op_create, 0, 0, (interrupted_sum, 1, &op));
    MPI(Reduce_local, 0, 0, (&one, &sum, 1, MPI_INT, op));
    MPI(Op_free, 0, 0, (&op));
    other.ss_flags = SS_DISABLE;
    sigaltstack(&other, NULL);
    free(other.ss_sp);
    LEAVE;
}

/* ---- Coroutines: two that take turns, then another on the memory of one of them -------------- */

static ucontext_t main_context, contexts[2];

/* Switches from this coroutine's stack to that of the other. */
TRUTH_FUNCTION static void pass_on(int to)
{
    int mine = truth_use_stack(to + 1);
    swapcontext(&contexts[1 - to], &contexts[to]);
    truth_use_stack(mine);
}

TRUTH_FUNCTION static void work(int me, int n)
{
    ENTER;
    TOUCH;
    if (n)
        DO(work(me, n - 1));
    else
        pass_on(1 - me);
    TOUCH;
    LEAVE;
}

TRUTH_FUNCTION static void coroutine_left(void)
{
    ENTER;
    for (int i = 0; i < 10; i++)
        DO(work(0, i % 4));
    LEAVE;
    truth_use_stack(0);
    setcontext(&main_context);
}

TRUTH_FUNCTION static void coroutine_right(void)
{
    ENTER;
    for (int i = 0;; i++)
        DO(work(1, i % 3));
}

TRUTH_FUNCTION static void coroutine_again(void)
{
    ENTER;
    for (int i = 0;; i++)
        DO(work(1, i % 5));
}

TRUTH_FUNCTION static void take_turns(void *stack[2], void (*right)(void))
{
    void (*bodies[2])(void) = {coroutine_left, right};
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stack[i];
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        contexts[i].uc_link = NULL;
        makecontext(&contexts[i], bodies[i], 0);
        truth_use_stack(i + 1);
        truth_set_depth(0);
    }
    truth_use_stack(1);
    swapcontext(&main_context, &contexts[0]);
}

void paths_coroutines(void)
{
    void *stack[2] = {malloc(STACK_BYTES), malloc(STACK_BYTES)};
    REQUIRE(stack[0] && stack[1]);
    ENTER;
    TOUCH;
    take_turns(stack, coroutine_right);
    TOUCH;
    take_turns(stack, coroutine_again);
    TOUCH;
    LEAVE;
    free(stack[0]);
    free(stack[1]);
}
