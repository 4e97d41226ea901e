/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls whose system calls are counted, between marks for strace: access of /begin/NAME and of
 * /end. The library may add system calls to them; for sockets this depends on their limits.
 *
 *     added          each N_CALLS times
 *     added SECONDS  writes to /dev/null for this CPU time, while a socket has a limit
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { N_CALLS = 100, LONG_BYTES = 8192 };

static int null;

/* Sets a time limit in s. */
static void limit(int fd, int option, long s)
{
    struct timeval time = {s, 0};
    if (setsockopt(fd, SOL_SOCKET, option, &time, sizeof time))
        perror("setsockopt");
}

static void limit_by_number(int fd, long s)
{
    struct timeval time = {s, 0};
    if (syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time))
        perror("setsockopt");
}

static void set_least(int fd, int bytes)
{
    if (setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes))
        perror("setsockopt");
}

static void begin(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/begin/%s", name);
    access(path, F_OK);
}

static void end(void)
{
    access("/end", F_OK);
}

static void write_and_read(const char *name)
{
    static char bytes[16];
    begin(name);
    for (int i = 0; i < N_CALLS; i++)
        if (write(null, bytes, sizeof bytes) < 0 || read(null, bytes, sizeof bytes) < 0)
            perror(name);
    end();
}

/* Accepts a socket from one with a limit, and takes the limit from that one. */
static void accept_limited(int listening)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int other = socket(AF_INET, SOCK_STREAM, 0);
    limit(listening, SO_RCVTIMEO, 4);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) || listen(listening, 1) ||
        getsockname(listening, (struct sockaddr *)&at, &length) ||
        connect(other, (struct sockaddr *)&at, sizeof at) || accept(listening, NULL, NULL) < 0)
        perror("accept");
    limit(listening, SO_RCVTIMEO, 0);
}

static void write_with_limits(int pair[2])
{
    limit(pair[0], SO_RCVTIMEO, 0);
    set_least(socket(AF_INET, SOCK_STREAM, 0), 1);
    write_and_read("limits_of_0");
    limit(pair[0], SO_RCVTIMEO, 4);
    limit_by_number(pair[1], 4);
    write_and_read("limits");
    int copy = dup(pair[0]);
    close(pair[0]);
    limit(copy, SO_RCVTIMEO, 0);
    write_and_read("one_limit");
    limit(pair[1], SO_RCVTIMEO, 4);
    limit_by_number(pair[1], 0);
    limit(pair[1], SO_RCVTIMEO, 0);
    write_and_read("no_limit_left");
    accept_limited(socket(AF_INET, SOCK_STREAM, 0));
    write_and_read("accepted");
}

#define REPEAT(name, call)                                                                         \
    do {                                                                                           \
        begin(name);                                                                               \
        for (int i = 0; i < N_CALLS; i++)                                                          \
            if ((call) < 0)                                                                        \
                perror(name);                                                                      \
        end();                                                                                     \
    } while (0)

static void call_others(int fd)
{
    static char bytes[LONG_BYTES];
    struct pollfd polled = {fd, POLLIN, 0};
    struct epoll_event event = {.events = EPOLLIN};
    const struct timespec none = {0, 0};
    struct timeval time = {0, 0};
    sem_t sem;
    int epoll = epoll_create1(0);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) || sem_init(&sem, 0, N_CALLS))
        perror("epoll_ctl");
    REPEAT("pwrite", pwrite(null, bytes, sizeof bytes, 0));
    REPEAT("long_write", write(null, bytes, sizeof bytes));
    REPEAT("send", send(fd, bytes, 1, MSG_DONTWAIT));
    REPEAT("fsync", fsync(fd) < 0 && errno == EINVAL ? 0 : -1);
    REPEAT("sem_wait", sem_wait(&sem));
    REPEAT("nanosleep", nanosleep(&none, NULL));
    REPEAT("poll", poll(&polled, 1, 0));
    REPEAT("select", select(0, NULL, NULL, NULL, &time));
    REPEAT("epoll_wait_0", epoll_wait(epoll, &event, 1, 0));
    REPEAT("epoll_wait_1", epoll_wait(epoll, &event, 1, 1));
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int pair[2];
    MPI_Init(&argc, &argv);
    null = open("/dev/null", O_RDWR);
    if (null < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 2;
    if (argc > 1) {
        limit(pair[0], SO_SNDTIMEO, 4);
        for (double until = cpu_s() + atof(argv[1]); cpu_s() < until;)
            for (int i = 0; i < 1000; i++)
                if (write(null, argv[1], 1) < 0)
                    return 2;
    } else {
        write_and_read("after_MPI_Init");
        call_others(pair[1]);
        write_with_limits(pair);
    }
    MPI_Finalize();
    return 0;
}
