/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hang CASE FILE: a job that hangs, or computes for long, in one of the ways of the table below. A
 * name with "-twin" is of a job that does the same correctly, again and again; what follows a dot
 * is no part of a name. Each rank makes FILE.RANK.PID before it reaches the place where it stays.
 * It ends by itself after five minutes.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static int rank, n_ranks, token;
static volatile double sink;

KEPT static void compute(void)
{
    for (;;)
        sink += 1;
}

/* Each rank waits for the next. */
KEPT static void receive_in_a_circle(void)
{
    MPI_Recv(&token, 1, MPI_INT, (rank + 1) % n_ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The last rank never comes. */
KEPT static void barrier_with_one_in_a_loop(void)
{
    if (rank == n_ranks - 1)
        compute();
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void collectives_that_differ(void)
{
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Allreduce(&token, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

KEPT static void a_lock_taken_twice(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (rank == 1)
        pthread_mutex_lock(&lock);
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void a_pipe_that_nobody_fills(void)
{
    int ends[2];
    if (rank == 1 && pipe(ends) == 0 && read(ends[0], &token, 1) == 1)
        return;
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void an_event_that_never_comes(void)
{
    struct epoll_event event;
    if (rank == 1)
        epoll_wait(epoll_create1(0), &event, 1, -1);
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void a_wildcard_that_took_the_message(void)
{
    if (rank == 0) {
        MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 waits for a tag that rank 0 has not sent. */
KEPT static void a_message_that_is_lost(void)
{
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 sends on one communicator, rank 1 receives on its copy. */
KEPT static void a_wrong_communicator(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* On a copy rank 0 sends with one tag, rank 1 receives with another. */
KEPT static void a_wrong_tag_on_a_copy(void)
{
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 0) {
        MPI_Issend(&token, 1, MPI_INT, 1, 7, copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 8, copy, MPI_STATUS_IGNORE);
    }
}

/* Rank 0 sends on one copy, rank 1 receives on another one. */
KEPT static void two_copies(void)
{
    MPI_Comm one, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank == 0)
        MPI_Ssend(&token, 1, MPI_INT, 1, 7, one);
    else
        MPI_Recv(&token, 1, MPI_INT, 0, 7, other, MPI_STATUS_IGNORE);
}

/* Rank 1 skips the barrier of the others. */
KEPT static void a_barrier_that_one_misses(void)
{
    if (rank != 1)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Three ranks, on a communicator with the last first: rank 0 waits for a message of rank 1,
 * which waits until its own is received by rank 2, which waits for two of rank 0. */
KEPT static void requests_in_a_circle(void)
{
    static char large[1 << 23];
    int got[2];
    MPI_Comm turned;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    if (rank == 0) {
        MPI_Irecv(got, 1, MPI_INT, 1, 5, turned, r);
        MPI_Wait(r, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Isend(large, sizeof large, MPI_CHAR, 0, 6, turned, r + 1);
        MPI_Waitany(2, r, got, statuses);
    } else if (rank == 2) {
        MPI_Recv_init(got, 1, MPI_INT, 2, MPI_ANY_TAG, turned, r);
        MPI_Start(r);
        MPI_Irecv(got + 1, 1, MPI_INT, 2, 8, turned, r + 1);
        MPI_Waitall(2, r, statuses);
    }
}

static void exchange_with_neighbours(int send_tag)
{
    int from = (rank + n_ranks - 1) % n_ranks, to = (rank + 1) % n_ranks, got;
    MPI_Request r[2];
    MPI_Status statuses[2];
    MPI_Irecv(&got, 1, MPI_INT, from, 7, MPI_COMM_WORLD, r);
    MPI_Isend(&token, 1, MPI_INT, to, send_tag, MPI_COMM_WORLD, r + 1);
    MPI_Waitall(2, r, statuses);
}

/* The last rank sends with another tag. */
KEPT static void neighbours_with_a_wrong_tag(void)
{
    exchange_with_neighbours(rank == n_ranks - 1 ? 8 : 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank does not take part. */
KEPT static void an_exchange_without_one(void)
{
    int from = (rank + n_ranks - 1) % n_ranks, to = (rank + 1) % n_ranks, got;
    if (rank < n_ranks - 1)
        MPI_Sendrecv(&token, 1, MPI_INT, to, 7, &got, 1, MPI_INT, from, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 is the first of an open row: it sends to the last rank and receives from nobody. The
 * others wait for a message of the rank before. */
KEPT static void an_exchange_at_an_end(void)
{
    static char large[1 << 23];
    if (rank == 0)
        MPI_Sendrecv(large, sizeof large, MPI_CHAR, n_ranks - 1, 7, NULL, 0, MPI_CHAR,
                     MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All but rank 0, the last first. */
static MPI_Comm make_part(void)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &part);
    return part;
}

static void gather_in(MPI_Comm part)
{
    static const int counts[] = {1, 1, 1, 1}, at[] = {0, 1, 2, 3};
    int all[4];
    MPI_Allgatherv(&token, 1, MPI_INT, all, counts, at, MPI_INT, part);
}

/* Rank 1, the last of three, waits for a message of the first instead. */
KEPT static void a_gather_in_a_part_that_one_misses(void)
{
    MPI_Comm part = make_part();
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 3, part, MPI_STATUS_IGNORE);
    if (rank > 0)
        gather_in(part);
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void a_barrier_in_a_part_that_one_misses(void)
{
    MPI_Comm part = make_part();
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Barrier(part);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank is killed by the test. */
KEPT static void a_rank_that_dies(void)
{
    if (rank == n_ranks - 1)
        compute();
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void a_rank_that_is_stopped(void)
{
    if (rank == 1)
        raise(SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void *compute_in_a_thread(void *arg)
{
    compute();
    return arg;
}

KEPT static void a_thread_that_computes(void)
{
    pthread_t thread;
    if (rank == 0 && pthread_create(&thread, NULL, compute_in_a_thread, NULL) == 0)
        pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void a_main_thread_that_ends(void)
{
    pthread_t thread;
    if (rank == 0 && pthread_create(&thread, NULL, compute_in_a_thread, NULL) == 0)
        pthread_exit(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void all_compute(void)
{
    compute();
}

/* ---- Twins: the calls of the cases above in an order that is right ---- */

static void compute_for_ms(double ms)
{
    double end = MPI_Wtime() + ms * 1e-3;
    while (MPI_Wtime() < end)
        sink += 1;
}

KEPT static void pass_around(void)
{
    for (;; compute_for_ms(1)) {
        if (rank == 0)
            MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, (rank + n_ranks - 1) % n_ranks, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % n_ranks, 0, MPI_COMM_WORLD);
    }
}

/* All others wait for the last rank. */
KEPT static void meet_in_barriers(void)
{
    for (int i = 0;; i++) {
        compute_for_ms(i % n_ranks == rank ? 300 : 1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&token, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Rank 0 receives from any rank; the others wait for its answer. */
KEPT static void ask_and_answer(void)
{
    MPI_Comm copy;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (;;) {
        if (rank == 0) {
            MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 4, copy, &status);
            compute_for_ms(5);
            MPI_Send(&token, 1, MPI_INT, status.MPI_SOURCE, 5, MPI_COMM_WORLD);
        } else {
            MPI_Send(&token, 1, MPI_INT, 0, 4, copy);
            MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Each rank but the first waits for the one before it, and the first computes. */
KEPT static void wait_for_one_that_computes(void)
{
    if (rank == 0) {
        compute();
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The last rank calls MPI_Iprobe in a loop, which ends at some time. */
KEPT static void barrier_with_one_that_asks(void)
{
    for (int got = 0; rank == n_ranks - 1 && !got;) {
        compute_for_ms(0.1);
        MPI_Iprobe(0, 9, MPI_COMM_WORLD, &got, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

KEPT static void *work_and_let_go(void *arg)
{
    pthread_mutex_lock(&held);
    ssize_t begun = write(ends[1], "", 1);
    compute();
    pthread_mutex_unlock(&held);
    return begun == write(ends[1], "", 1) ? arg : NULL;
}

/* A thread of rank 1 works before it releases the lock. */
KEPT static void a_lock_that_is_held_for_long(void)
{
    pthread_t thread;
    if (rank == 1 && pipe(ends) == 0 && pthread_create(&thread, NULL, work_and_let_go, NULL) == 0 &&
        read(ends[0], &token, 1) == 1)
        pthread_mutex_lock(&held);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A thread of rank 1 works before it fills the pipe. */
KEPT static void a_pipe_that_is_filled_late(void)
{
    pthread_t thread;
    if (rank == 1 && pipe(ends) == 0 && pthread_create(&thread, NULL, work_and_let_go, NULL) == 0 &&
        read(ends[0], &token, 1) == 1 && read(ends[0], &token, 1) == 1)
        token = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 skips the barrier of the others, but the message that it waits for is sent. */
KEPT static void a_barrier_that_one_misses_for_a_while(void)
{
    if (rank == 0) {
        compute();
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A child of the last rank ends, and stays a zombie until its parent waits for it. */
KEPT static void a_child_that_dies(void)
{
    if (rank == n_ranks - 1) {
        if (fork() == 0)
            _exit(1);
        compute();
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

KEPT static void exchange_in_a_ring(void)
{
    int from = (rank + n_ranks - 1) % n_ranks, to = (rank + 1) % n_ranks, got;
    for (int i = 0;; i++) {
        compute_for_ms(i % n_ranks == rank ? 100 : 1);
        MPI_Sendrecv(&token, 1, MPI_INT, to, 7, &got, 1, MPI_INT, from, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

/* The requests of the circle, but rank 0 computes before it waits. */
/* The message that would end the wait may come from the rank that computes. */
KEPT static void requests_for_any_or_one(void)
{
    MPI_Request requests[2];
    if (rank == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&(int){0}, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &(int){0}, MPI_STATUS_IGNORE);
    } else {
        compute_for_ms(1e9);
    }
}

KEPT static void requests_for_one_that_computes(void)
{
    if (rank == 0)
        compute_for_ms(1e9);
    requests_in_a_circle();
}

KEPT static void exchange_by_requests(void)
{
    for (int i = 0;; i++) {
        compute_for_ms(i % n_ranks == rank ? 100 : 1);
        exchange_with_neighbours(7);
    }
}

/* Rank 1 waits first for a message of rank 0, which computes before it sends it. */
KEPT static void a_part_that_one_comes_to_late(void)
{
    MPI_Comm part = make_part();
    if (rank == 0)
        compute();
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        gather_in(part);
}

/* The last rank waits for a message before it takes part. */
static void receive_first(void)
{
    if (rank == n_ranks - 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

KEPT static void a_communicator_that_one_does_not_make(void)
{
    MPI_Group all;
    MPI_Comm made;
    receive_first();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create(MPI_COMM_WORLD, all, &made);
}

KEPT static void a_node_that_one_does_not_look_for(void)
{
    MPI_Comm node;
    receive_first();
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
}

/* Ranks that have their data wait for the one that has not arrived yet. */
KEPT static void a_broadcast_that_one_comes_to_late(void)
{
    if (rank == n_ranks - 1)
        compute();
    MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank < n_ranks - 1)
        MPI_Recv(&token, 1, MPI_INT, n_ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Ranks that are at their end wait in MPI_Finalize for the one that is not. */
KEPT static void an_end_that_one_comes_to_late(void)
{
    if (rank == 0)
        compute();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"circle", receive_in_a_circle},
    {"loop", barrier_with_one_in_a_loop},
    {"differ", collectives_that_differ},
    {"lock", a_lock_taken_twice},
    {"pipe", a_pipe_that_nobody_fills},
    {"event", an_event_that_never_comes},
    {"stop", a_rank_that_is_stopped},
    {"wildcard", a_wildcard_that_took_the_message},
    {"thread", a_thread_that_computes},
    {"main", a_main_thread_that_ends},
    {"compute", all_compute},
    {"message", a_message_that_is_lost},
    {"communicator", a_wrong_communicator},
    {"tag", a_wrong_tag_on_a_copy},
    {"copies", two_copies},
    {"branch", a_barrier_that_one_misses},
    {"dead", a_rank_that_dies},
    {"circle-twin", pass_around},
    {"barrier-twin", meet_in_barriers},
    {"answer-twin", ask_and_answer},
    {"chain-twin", wait_for_one_that_computes},
    {"exchange", an_exchange_without_one},
    {"row", an_exchange_at_an_end},
    {"gather", a_gather_in_a_part_that_one_misses},
    {"part", a_barrier_in_a_part_that_one_misses},
    {"loop-twin", barrier_with_one_that_asks},
    {"lock-twin", a_lock_that_is_held_for_long},
    {"pipe-twin", a_pipe_that_is_filled_late},
    {"branch-twin", a_barrier_that_one_misses_for_a_while},
    {"dead-twin", a_child_that_dies},
    {"exchange-twin", exchange_in_a_ring},
    {"part-twin", a_part_that_one_comes_to_late},
    {"requests", requests_in_a_circle},
    {"neighbours", neighbours_with_a_wrong_tag},
    {"requests-twin", requests_for_one_that_computes},
    {"any-twin", requests_for_any_or_one},
    {"neighbours-twin", exchange_by_requests},
    {"end", an_end_that_one_comes_to_late},
    {"broadcast-twin", a_broadcast_that_one_comes_to_late},
    {"create", a_communicator_that_one_does_not_make},
    {"node", a_node_that_one_does_not_look_for},
};

int main(int argc, char **argv)
{
    char name[4096];
    if (argc != 3)
        return 2;
    size_t n = strcspn(argv[1], ".");
    alarm(300);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    snprintf(name, sizeof name, "%s.%d.%d", argv[2], rank, (int)getpid());
    close(open(name, O_CREAT | O_WRONLY, 0600));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strncmp(argv[1], cases[i].name, n) == 0 && !cases[i].name[n])
            cases[i].run();
    MPI_Finalize();
    return 0;
}
