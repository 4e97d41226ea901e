/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls every function that ends with EINTR after any handler (signal(7); the names are those of
 * libcollect/state/blocking.h), between bursts of computation. Prints each call that was wrong.
 *
 *     quiet N   three threads make N calls of each kind; the program has no signals of its own, so
 *               none may end with EINTR
 *     alarm N   a timer of the program interrupts every 300 us: each call, which would last 5 s or
 *               more, ends with EINTR after a handler has run, and the remaining time is right
 *     once N    SIGALRM is blocked, and comes once, 300 us after the timer is set: the calls that
 *               unblock it end after that one handler
 *     names     prints the kinds
 */
#define _GNU_SOURCE 1

#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 3 };

/* Objects and arguments of the calls with which a thread waits. */
struct place {
    struct timespec time, until;
    struct timeval tv;
    struct epoll_event event;
    sigset_t usr1, now; /* signals to wait for; mask during the wait */
    int ms, epoll, in, out, listening, full, messages, sems;
    sem_t sem;
    unsigned long aio;
    struct aiocb request;
    struct msghdr header;
    struct mmsghdr headers[1];
    struct iovec vector;
    struct sockaddr_un name;
    char byte[8];
    bool wrong_rest;
};

static volatile double sink;
static volatile sig_atomic_t handled;

extern int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
extern int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                       const sigset_t *mask, size_t size);
extern ssize_t __read_chk(int fd, void *buffer, size_t n, size_t size);
extern ssize_t __recv_chk(int fd, void *buffer, size_t n, size_t size, int flags);
extern ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t n, size_t size, int flags,
                              struct sockaddr *restrict from, socklen_t *restrict length);
extern int io_getevents(void *context, long least, long n, void *events, struct timespec *timeout);

/* The header gives the name sigpause to X/Open's function. */
extern int bsd_sigpause(int mask) __asm__("sigpause");
extern int __sigpause(int mask_or_signal, int is_signal);
extern int __xpg_sigpause(int signal);

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int rested(struct place *p, int result, double began, double rest)
{
    double asked = (double)p->time.tv_sec + (double)p->time.tv_nsec * 1e-9;
    if (result && (rest > asked || rest + (seconds() - began) < asked - 1e-6))
        p->wrong_rest = true;
    return result;
}

static int sleep_by(struct place *p, int clock)
{
    struct timespec rest = {0, 0};
    double began = seconds();
    int result =
        clock ? clock_nanosleep(CLOCK_MONOTONIC, 0, &p->time, &rest) : nanosleep(&p->time, &rest);
    if (clock && result)
        errno = result;
    return rested(p, result ? -1 : 0, began, (double)rest.tv_sec + (double)rest.tv_nsec * 1e-9);
}

static int sleep_select(struct place *p)
{
    struct timeval left = p->tv;
    double began = seconds();
    int result = select(0, NULL, NULL, NULL, &left);
    return rested(p, result, began, (double)left.tv_sec + (double)left.tv_usec * 1e-6 + 1e-6);
}

static int wait_aio(struct place *p)
{
    const struct aiocb *list[] = {&p->request};
    return aio_suspend(list, 1, &p->time);
}

static int wait_events(struct place *p)
{
    struct {
        unsigned long long words[4];
    } events[1];
    int result = io_getevents((void *)p->aio, 1, 1, events, &p->time);
    errno = result < 0 ? -result : errno;
    return result < 0 ? -1 : 0;
}

static struct sembuf down = {0, -1, 0};
static struct sockaddr *const nobody;

/* X(name, needs, call); needs: see struct kind. */
#define KINDS(X)                                                                                   \
    X(poll, "", poll(NULL, 0, p->ms))                                                              \
    X(__poll_chk, "", __poll_chk(NULL, 0, p->ms, 0))                                               \
    X(ppoll, "", ppoll(NULL, 0, &p->time, NULL))                                                   \
    X(__ppoll_chk, "", __ppoll_chk(NULL, 0, &p->time, &p->now, 0))                                 \
    X(select, "", sleep_select(p))                                                                 \
    X(pselect, "", pselect(0, NULL, NULL, NULL, &p->time, NULL))                                   \
    X(epoll_wait, "", epoll_wait(p->epoll, &p->event, 1, p->ms))                                   \
    X(epoll_pwait, "", epoll_pwait(p->epoll, &p->event, 1, p->ms, &p->now))                        \
    X(epoll_pwait2, "", wait_epoll2(p))                                                            \
    X(pause, "s", pause())                                                                         \
    X(sigpause, "s", bsd_sigpause(0))                                                              \
    X(__sigpause, "s", __sigpause(0, 0))                                                           \
    X(__xpg_sigpause, "s", __xpg_sigpause(SIGALRM))                                                \
    X(sigsuspend, "s", sigsuspend(&p->now))                                                        \
    X(nanosleep, "", sleep_by(p, 0))                                                               \
    X(clock_nanosleep, "", sleep_by(p, 1))                                                         \
    X(usleep, "", usleep(p->time.tv_sec ? 900000 : (useconds_t)(p->time.tv_nsec / 1000)))          \
    X(sleep, "s", sleep(5) ? (errno = EINTR, -1) : 0)                                              \
    X(thrd_sleep, "", thrd_sleep(&p->time, NULL) == -1 ? (errno = EINTR, -1) : 0)                  \
    X(semop, "w", semop(p->sems, &down, 1))                                                        \
    X(semtimedop, "", semtimedop(p->sems, &down, 1, &p->time))                                     \
    X(msgrcv, "w", (int)msgrcv(p->messages, p->byte, 1, 1, 0))                                     \
    X(msgsnd, "s", send_messages(p))                                                               \
    X(aio_suspend, "", wait_aio(p))                                                                \
    X(sem_wait, "w", sem_wait(&p->sem))                                                            \
    X(sem_timedwait, "", sem_timedwait(&p->sem, &p->until))                                        \
    X(sem_clockwait, "", sem_clockwait(&p->sem, CLOCK_REALTIME, &p->until))                        \
    X(read, "", (int)read(p->in, p->byte, 1))                                                      \
    X(__read_chk, "", (int)__read_chk(p->in, p->byte, 1, 8))                                       \
    X(readv, "", (int)readv(p->in, &p->vector, 1))                                                 \
    X(recv, "", (int)recv(p->in, p->byte, 1, 0))                                                   \
    X(__recv_chk, "", (int)__recv_chk(p->in, p->byte, 1, 8, 0))                                    \
    X(recvfrom, "", (int)recvfrom(p->in, p->byte, 1, 0, nobody, NULL))                             \
    X(__recvfrom_chk, "", (int)__recvfrom_chk(p->in, p->byte, 1, 8, 0, nobody, NULL))              \
    X(recvmsg, "", (int)recvmsg(p->in, &p->header, 0))                                             \
    X(recvmmsg, "", recvmmsg(p->in, p->headers, 1, 0, NULL))                                       \
    X(accept, "", accept(p->listening, NULL, NULL))                                                \
    X(accept4, "", accept4(p->listening, NULL, NULL, SOCK_CLOEXEC))                                \
    X(write, "", (int)write(p->out, p->byte, 1))                                                   \
    X(writev, "", (int)writev(p->out, &p->vector, 1))                                              \
    X(send, "", (int)send(p->out, p->byte, 1, 0))                                                  \
    X(sendto, "", (int)sendto(p->out, p->byte, 1, 0, NULL, 0))                                     \
    X(sendmsg, "", (int)sendmsg(p->out, &p->header, 0))                                            \
    X(sendmmsg, "", sendmmsg(p->out, p->headers, 1, 0))                                            \
    X(connect, "", connect_once(p))                                                                \
    X(io_getevents, "", wait_events(p))                                                            \
    X(sigwaitinfo, "s", sigwaitinfo(&p->usr1, NULL))                                               \
    X(sigtimedwait, "", sigtimedwait(&p->usr1, NULL, &p->time))

static int send_messages(struct place *p)
{
    for (;;)
        if (msgsnd(p->messages, p->byte, 1, 0))
            return -1;
}

static int wait_epoll2(struct place *p)
{
#if defined SYS_epoll_pwait2 && __GLIBC_PREREQ(2, 35)
    return epoll_pwait2(p->epoll, &p->event, 1, &p->time, NULL);
#else
    return poll(NULL, 0, p->ms);
#endif
}

/* Connects to a listening socket whose queue is full. */
static int connect_once(struct place *p)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &p->tv, sizeof p->tv);
    int result = connect(fd, (struct sockaddr *)&p->name, sizeof p->name);
    int saved = errno;
    close(fd);
    errno = saved;
    return result;
}

#include "waits_bare.inc"

#define RUN(name, needs, call)                                                                     \
    static int run_##name(struct place *p)                                                         \
    {                                                                                              \
        (void)p;                                                                                   \
        return call;                                                                               \
    }
KINDS(RUN)
BARE_KINDS(RUN)

#define KIND(name, needs, call) {#name, needs, run_##name},
static const struct kind {
    const char *name, *needs; /* s: only a signal ends the call; w: another thread does, too */
    int (*run)(struct place *);
} kinds[] = {KINDS(KIND) BARE_KINDS(KIND)};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static int listen_at(struct place *p)
{
    static int n;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    p->name = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(p->name.sun_path + 1, sizeof p->name.sun_path - 1, "waits-%d-%d", (int)getpid(), n++);
    if (bind(fd, (struct sockaddr *)&p->name, sizeof p->name) || listen(fd, 0))
        perror("listen");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &p->tv, sizeof p->tv);
    return fd;
}

static void set_time(struct place *p, long us)
{
    p->time = (struct timespec){us / 1000000, us % 1000000 * 1000};
    p->tv = (struct timeval){us / 1000000, us % 1000000};
    p->ms = (int)(us / 1000);
}

static void set_until(struct place *p)
{
    clock_gettime(CLOCK_REALTIME, &p->until);
    p->until.tv_sec += p->time.tv_sec + (p->until.tv_nsec + p->time.tv_nsec) / 1000000000;
    p->until.tv_nsec = (p->until.tv_nsec + p->time.tv_nsec) % 1000000000;
}

static void make_place(struct place *p, long us)
{
    static const int small = 2048;
    int pair[2], ends[2];
    memset(p, 0, sizeof *p);
    set_time(p, us);
    sigemptyset(&p->usr1);
    sigaddset(&p->usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, NULL, &p->now);
    p->epoll = epoll_create1(0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(ends))
        perror("socketpair");
    p->in = pair[0];
    p->out = pair[1];
    setsockopt(p->in, SOL_SOCKET, SO_RCVTIMEO, &p->tv, sizeof p->tv);
    setsockopt(p->out, SOL_SOCKET, SO_SNDTIMEO, &p->tv, sizeof p->tv);
    setsockopt(p->out, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    p->listening = listen_at(p);
    p->full = listen_at(p);
    for (int i = 0; i < 2; i++) { /* a queue of length 0 takes one connection */
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(fd, (struct sockaddr *)&p->name, sizeof p->name) && errno != EAGAIN)
            perror("connect");
    }
    p->vector = (struct iovec){p->byte, 1};
    p->header = p->headers[0].msg_hdr = (struct msghdr){.msg_iov = &p->vector, .msg_iovlen = 1};
    p->messages = msgget(IPC_PRIVATE, 0600);
    p->sems = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&p->sem, 0, 0);
    syscall(SYS_io_setup, 4, &p->aio);
    p->request = (struct aiocb){.aio_fildes = ends[0], .aio_buf = p->byte, .aio_nbytes = 1};
    p->request.aio_sigevent.sigev_notify = SIGEV_NONE;
    aio_read(&p->request);
    *(long *)(void *)p->byte = 1;
}

/* Fills the buffer of the socket for sends. Receives get a new pair of sockets, which is empty. */
static void fill(struct place *p)
{
    while (send(p->out, p->byte, 8, MSG_DONTWAIT) > 0)
        ;
    int full = p->out;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        perror("socketpair");
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &p->tv, sizeof p->tv);
    p->in = pair[0];
    p->out = full;
}

static void drop_place(const struct place *p)
{
    msgctl(p->messages, IPC_RMID, NULL);
    semctl(p->sems, 0, IPC_RMID);
}

/* True if the call ended with EINTR. */
static bool is_ended(const struct kind *k, struct place *p)
{
    set_until(p);
    errno = 0;
    return k->run(p) < 0 && errno == EINTR;
}

static void compute(int n)
{
    for (int k = 0; k < n; k++)
        sink = sink + k;
}

/* ---- quiet ----------------------------------------------------------------------------------- */

static int rounds;
static volatile bool over;

struct work {
    pthread_t thread;
    struct place place;
    int wrong[N_KINDS];
};

/* Ends calls that have no timeout, by posting what they wait for. */
static int feed(void *argument)
{
    struct work *all = argument;
    static struct sembuf up = {0, 1, IPC_NOWAIT};
    const struct timespec time = {0, 300000};
    struct {
        long type;
        char byte[8];
    } message = {1, ""};
    while (!over) {
        for (int i = 0; i < N_THREADS; i++) {
            struct place *p = &all[i].place;
            sem_post(&p->sem);
            semop(p->sems, &up, 1);
            msgsnd(p->messages, &message, 1, IPC_NOWAIT);
        }
        thrd_sleep(&time, NULL);
    }
    return 0;
}

static void *work(void *argument)
{
    struct work *w = argument;
    for (int i = 0; i < rounds; i++) {
        set_time(&w->place, i % 3 ? 20 : 1000);
        for (int kind = 0; kind < N_KINDS; kind++) {
            compute(15000);
            if (!strchr(kinds[kind].needs, 's'))
                w->wrong[kind] += is_ended(&kinds[kind], &w->place);
        }
    }
    return NULL;
}

static void check_quiet(void)
{
    static struct work all[N_THREADS];
    thrd_t feeder;
    for (int i = 0; i < N_THREADS; i++) {
        make_place(&all[i].place, 100);
        fill(&all[i].place);
    }
    thrd_create(&feeder, feed, all);
    for (int i = 1; i < N_THREADS; i++)
        pthread_create(&all[i].thread, NULL, work, &all[i]);
    work(&all[0]);
    for (int i = 1; i < N_THREADS; i++)
        pthread_join(all[i].thread, NULL);
    over = true;
    thrd_join(feeder, NULL);
    for (int i = 0; i < N_THREADS; i++) {
        drop_place(&all[i].place);
        for (int kind = 0; kind < N_KINDS; kind++)
            if (all[i].wrong[kind])
                printf("%s %d\n", kinds[kind].name, all[i].wrong[kind]);
    }
}

/* ---- alarm ----------------------------------------------------------------------------------- */

static void count(int signal)
{
    (void)signal;
    handled++;
}

static void handle_alarm(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(SIGALRM, &action, NULL);
}

static void set_alarm(long us, bool again)
{
    const struct itimerval timer = {{0, again ? us : 0}, {0, us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void check_alarm(void)
{
    static struct place p;
    make_place(&p, 5000000);
    fill(&p);
    handle_alarm();
    for (int kind = 0; kind < N_KINDS; kind++)
        for (int i = 0; i < rounds; i++) {
            compute(3000 + i % 7 * 1000);
            set_alarm(300, true);
            int before = handled;
            bool ended = is_ended(&kinds[kind], &p);
            bool caused = handled != before;
            set_alarm(0, false);
            if (!ended || !caused || p.wrong_rest) {
                printf("%s%s%s\n", kinds[kind].name, ended && !caused ? " without cause" : "",
                       p.wrong_rest ? " rest" : "");
                p.wrong_rest = false;
                break;
            }
        }
    drop_place(&p);
}

/* ---- once ------------------------------------------------------------------------------------ */

static int wait_masked(int kind, struct place *p, const sigset_t *mask)
{
    switch (kind) {
    case 0:
        return sigsuspend(mask);
    case 1:
        return bsd_sigpause(0);
    case 2:
        return __xpg_sigpause(SIGALRM);
    case 3:
        return ppoll(NULL, 0, &p->time, mask);
    case 4:
        return pselect(0, NULL, NULL, NULL, &p->time, mask);
    default:
        return epoll_pwait(p->epoll, &p->event, 1, p->ms, mask);
    }
}

static void check_once(void)
{
    static const char *const names[] = {"sigsuspend", "sigpause", "__xpg_sigpause",
                                        "ppoll",      "pselect",  "epoll_pwait"};
    static struct place p;
    sigset_t blocked, mask;
    make_place(&p, 5000000);
    handle_alarm();
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    for (int i = 0; i < rounds; i++)
        for (int kind = 0; kind < 6; kind++) {
            int before = handled;
            set_alarm(300, false);
            compute(i % 5 * 40000);
            int result = wait_masked(kind, &p, &mask);
            if (result != -1 || errno != EINTR || handled != before + 1)
                printf("%s: %d, %d handlers\n", names[kind], result, handled - before);
        }
    drop_place(&p);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (!strcmp(what, "quiet"))
        check_quiet();
    else if (!strcmp(what, "alarm"))
        check_alarm();
    else if (!strcmp(what, "once"))
        check_once();
    else
        for (int kind = 0; kind < N_KINDS; kind++)
            if (strncmp(kinds[kind].name, "bare_", 5))
                puts(kinds[kind].name);
    return 0;
}
