/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI calls on stacks of coroutines.
 *
 *   left N      N coroutines, each on a new stack, leave MPI_Send by longjmp out of its error
 *               handler; after each the thread's own stack calls MPI
 *   among N     the same, but all calls until MPI_Finalize are made by coroutines
 *   inside      an operator of a reduction resumes coroutines that call MPI, on stacks above and
 *               below that of the reduction, which runs on the thread's own stack and on others
 *   waits       rank 0 waits 1 s for a message, on the stack of a coroutine, and then computes
 * there
 *
 * Prints how often each function was called, and how often outside of other calls.
 */
#include <mpi.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { STACK_BYTES = 65536, N_STACKS = 3 };

static char stacks[N_STACKS][STACK_BYTES] __attribute__((aligned(64)));
static ucontext_t back[N_STACKS + 1];
static int n_resumed; /* coroutines inside of each other */
static int n_sends, n_sizes, n_reductions, n_outside, n_inside;
static jmp_buf where;
static MPI_Comm failing;

static void fail(const char *why)
{
    fprintf(stderr, "coroutines: %s\n", why);
    exit(1);
}

/* Runs a function to its end on another stack. */
static void resume(void *stack, void (*body)(void))
{
    ucontext_t coroutine;
    ucontext_t *from = &back[n_resumed++];
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = STACK_BYTES;
    coroutine.uc_link = from;
    makecontext(&coroutine, body, 0);
    if (swapcontext(from, &coroutine))
        fail("no coroutine");
    n_resumed--;
}

static void call(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n_sizes++;
    n_outside += !n_inside;
}

static void leap(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(where, 1);
}

static void leave_send(void)
{
    n_sends++;
    n_outside++;
    if (!setjmp(where)) {
        MPI_Send(NULL, 0, MPI_INT, 1000000, 0, failing);
        fail("MPI_Send has returned");
    }
}

static void leave(int n, int only)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leap, &handler);
    MPI_Comm_dup(MPI_COMM_SELF, &failing);
    MPI_Comm_set_errhandler(failing, handler);
    n_outside += 3;
    char *memory = malloc((size_t)n * STACK_BYTES);
    if (!memory)
        fail("no memory");
    for (int i = n; i-- > 0;) { /* each below the last one, as mmap gives them */
        resume(memory + (size_t)i * STACK_BYTES, leave_send);
        if (!only)
            call();
    }
    for (int i = 0; i < n; i++)
        if (only)
            resume(stacks[0], call);
    free(memory);
}

static void reduce(void);

static void add(void *from, void *to, int *n, MPI_Datatype *type)
{
    (void)type;
    n_inside++;
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((int *)from)[i];
    call();
    if (n_inside == 1) {
        for (int i = 0; i < N_STACKS; i++)
            if (n_resumed != 1 || i != 1)
                resume(stacks[i], i % 2 ? reduce : call);
        reduce();
    }
    n_inside--;
}

static MPI_Op op;

static void reduce(void)
{
    int one = 1, sum = 1;
    n_reductions++;
    n_outside += !n_inside;
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
    if (sum != 2)
        fail("wrong sum");
    call();
}

static void call_inside(void)
{
    MPI_Op_create(add, 1, &op);
    n_outside++;
    for (int i = 0; i < 50; i++) {
        reduce();
        resume(stacks[1], reduce);
    }
}

static volatile double sink;
static double waited, computed;

/* CPU time in s of this thread. */
static double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds)
{
    double end = cpu_time() + seconds;
    while (cpu_time() < end)
        for (int i = 0; i < 100000; i++)
            sink += i;
}

static void wait_and_compute(void)
{
    double begin = cpu_time(), between;
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    between = cpu_time();
    compute(0.3);
    waited = between - begin;
    computed = cpu_time() - between;
}

static void wait_for_message(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        resume(stacks[0], wait_and_compute);
    } else {
        compute(0.5);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 0;
    const char *way = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    n_outside++;
    if (!strcmp(way, "left") || !strcmp(way, "among"))
        leave(n, !strcmp(way, "among"));
    else if (!strcmp(way, "inside"))
        call_inside();
    else
        wait_for_message();
    MPI_Finalize();
    if (waited > 0)
        printf("cpu %d %d\n", (int)(1000 * waited), (int)(1000 * computed));
    else if (strcmp(way, "waits"))
        printf("%d %d %d outside %d\n", n_sends, n_sizes, n_reductions, n_outside);
    return 0;
}
