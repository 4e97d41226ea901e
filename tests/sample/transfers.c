/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long transfers: each kind of call is made N times while other threads read and write the other
 * ends. Prints each kind that returned less than requested, or ended with an error.
 *
 *     named N    calls the function by its name
 *     bare N     calls it by its number with syscall(2)
 *     direct N   calls it by its number with the syscall of libc itself, past preloaded libraries
 *     names      prints the kinds
 *     alarm N    calls each kind by name and by number, while a timer of the program interrupts
 *                every 300 us; prints each kind that was not cut in any of N calls
 *     cancel N   cancels a thread that waits in such a call; prints those that were not cancelled
 */
#define _GNU_SOURCE 1

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 1 << 20, FILE_BYTES = 2 << 20 };

typedef long syscall_fn(long, ...);

static syscall_fn *call = syscall;
static char buffer[BYTES];
static struct iovec two[2] = {{buffer, BYTES / 2}, {buffer, BYTES / 2}};
static struct msghdr message = {.msg_iov = two, .msg_iovlen = 2};
static struct mmsghdr messages[2];
static int pipe_in[2], filled[2], sink, source, zero, files[2];
static loff_t from, to;
static const long no_offset = -1;

static long both(long n)
{
    return n == 2 && messages[0].msg_len == BYTES && messages[1].msg_len == BYTES ? BYTES : n;
}

static long whole(long result)
{
    if (result > 0) { /* posix_fallocate returns the error */
        errno = (int)result;
        return -1;
    }
    return result ? result : BYTES;
}

/* X(name, call by name, call by number). The results are BYTES. */
#define KINDS(X)                                                                                   \
    X(write, write(pipe_in[1], buffer, BYTES), call(SYS_write, pipe_in[1], buffer, BYTES))         \
    X(writev, writev(pipe_in[1], two, 2), call(SYS_writev, pipe_in[1], two, 2))                    \
    X(pwritev2, pwritev2(pipe_in[1], two, 2, -1, 0),                                               \
      call(SYS_pwritev2, pipe_in[1], two, 2, no_offset, no_offset, 0))                             \
    X(socket_write, write(sink, buffer, BYTES), call(SYS_write, sink, buffer, BYTES))              \
    X(send, send(sink, buffer, BYTES, 0), call(SYS_sendto, sink, buffer, BYTES, 0, NULL, 0))       \
    X(sendto, sendto(sink, buffer, BYTES, 0, NULL, 0),                                             \
      call(SYS_sendto, sink, buffer, BYTES, 0, NULL, 0))                                           \
    X(sendmsg, sendmsg(sink, &message, 0), call(SYS_sendmsg, sink, &message, 0))                   \
    X(sendmmsg, both(sendmmsg(sink, messages, 2, 0)),                                              \
      both(call(SYS_sendmmsg, sink, messages, 2, 0)))                                              \
    X(recv, recv(source, buffer, BYTES, MSG_WAITALL),                                              \
      call(SYS_recvfrom, source, buffer, BYTES, MSG_WAITALL, NULL, NULL))                          \
    X(recvfrom, recvfrom(source, buffer, BYTES, MSG_WAITALL, NULL, NULL),                          \
      call(SYS_recvfrom, source, buffer, BYTES, MSG_WAITALL, NULL, NULL))                          \
    X(recvmsg, recvmsg(source, &message, MSG_WAITALL),                                             \
      call(SYS_recvmsg, source, &message, MSG_WAITALL))                                            \
    X(recvmmsg, both(recvmmsg(source, messages, 2, MSG_WAITALL, NULL)),                            \
      both(call(SYS_recvmmsg, source, messages, 2, MSG_WAITALL, NULL)))                            \
    X(read, read(zero, buffer, BYTES), call(SYS_read, zero, buffer, BYTES))                        \
    X(readv, readv(zero, two, 2), call(SYS_readv, zero, two, 2))                                   \
    X(getrandom, getrandom(buffer, BYTES, 0), call(SYS_getrandom, buffer, BYTES, 0))               \
    X(splice, splice(filled[0], NULL, sink, NULL, BYTES, 0),                                       \
      call(SYS_splice, filled[0], NULL, sink, NULL, BYTES, 0))                                     \
    X(sendfile, sendfile(sink, files[0], &from, BYTES),                                            \
      call(SYS_sendfile, sink, files[0], &from, BYTES))                                            \
    X(copy_file_range, copy_file_range(files[0], &from, files[1], &to, BYTES, 0),                  \
      call(SYS_copy_file_range, files[0], &from, files[1], &to, BYTES, 0))                         \
    X(fallocate, whole(fallocate(files[1], 0, BYTES, FILE_BYTES)),                                 \
      whole(call(SYS_fallocate, files[1], 0L, (long)BYTES, (long)FILE_BYTES)))                     \
    X(posix_fallocate, whole(posix_fallocate(files[1], BYTES, FILE_BYTES)),                        \
      whole(call(SYS_fallocate, files[1], 0L, (long)BYTES, (long)FILE_BYTES)))

#define RUN(name, named, bare)                                                                     \
    static long named_##name(void)                                                                 \
    {                                                                                              \
        return named;                                                                              \
    }                                                                                              \
    static long bare_##name(void)                                                                  \
    {                                                                                              \
        return bare;                                                                               \
    }
KINDS(RUN)

#define KIND(name, named, bare) {#name, {named_##name, bare_##name}},
static const struct kind {
    const char *name;
    long (*run[2])(void);
} kinds[] = {KINDS(KIND)};
enum { N_KINDS = sizeof kinds / sizeof kinds[0], NAMED = 0, BARE = 1 };

/* ---- The other ends -------------------------------------------------------------------------- */

static void *drain(void *fd)
{
    static __thread char bytes[3000];
    while (read(*(int *)fd, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

static void *feed(void *fd)
{
    static char bytes[3000];
    while (write(*(int *)fd, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

static void start(void *(*function)(void *), int *fd)
{
    pthread_t thread;
    sigset_t alarm, before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    if (pthread_create(&thread, NULL, function, fd) || pthread_detach(thread))
        perror("pthread_create");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int fill(int fd)
{
    for (size_t done = 0; done < BYTES;) {
        long n = write(fd, buffer, BYTES - done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void open_ends(void)
{
    static int out[2], in[2];
    if (pipe(pipe_in) || pipe(filled) || fcntl(filled[1], F_SETPIPE_SZ, BYTES) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, out) || socketpair(AF_UNIX, SOCK_STREAM, 0, in))
        perror("ends");
    zero = open("/dev/zero", O_RDONLY);
    files[0] = memfd_create("from", 0);
    files[1] = memfd_create("to", 0);
    if (zero < 0 || fill(files[0]))
        perror("files");
    sink = out[0];
    source = in[0];
    for (int i = 0; i < 2; i++)
        messages[i].msg_hdr = message;
    start(drain, &out[1]);
    start(drain, &pipe_in[0]);
    start(feed, &in[1]);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static void empty_pipe(void)
{
    int n = 0;
    while (!ioctl(filled[0], FIONREAD, &n) && n > 0)
        if (read(filled[0], buffer, (size_t)n) < 0 && errno != EINTR)
            break;
}

/* True if the call transferred all bytes. */
static bool is_whole(const struct kind *k, int way)
{
    if (strstr(k->name, "splice") && fill(filled[1]))
        perror("fill");
    from = to = 0;
    errno = 0;
    bool all = k->run[way]() == BYTES && !errno;
    if (strstr(k->name, "splice"))
        empty_pipe();
    if (strstr(k->name, "fallocate") && ftruncate(files[1], 0))
        perror("ftruncate");
    return all;
}

static void check(int way, int n)
{
    for (int kind = 0; kind < N_KINDS; kind++) {
        int cut = 0;
        for (int i = 0; i < n; i++)
            cut += !is_whole(&kinds[kind], way);
        if (cut)
            printf("%s %d\n", kinds[kind].name, cut);
    }
}

static void ignore(int signal)
{
    (void)signal;
}

static void check_alarm(int n)
{
    static const char *const ways[] = {"named", "bare"};
    const struct itimerval timer = {{0, 300}, {0, 300}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ignore;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int way = NAMED; way <= BARE; way++)
        for (int kind = 0; kind < N_KINDS; kind++) {
            int i = strstr(kinds[kind].name, "fallocate") ? -1 : 0;
            while (i >= 0 && i < n && is_whole(&kinds[kind], way))
                i++;
            if (i == n)
                printf("%s %s\n", ways[way], kinds[kind].name);
        }
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

static int nowhere[2], nobody[2], nothing[2];
static volatile bool cleaned;

static void clean(void *unused)
{
    (void)unused;
    cleaned = true;
}

static void *wait_in(void *which)
{
    pthread_cleanup_push(clean, NULL);
    switch (*(int *)which) {
    case 0:
        write(nowhere[1], buffer, BYTES);
        break;
    case 1:
        send(nobody[0], buffer, BYTES, 0);
        break;
    case 2:
        recv(nobody[0], buffer, BYTES, MSG_WAITALL);
        break;
    default:
        splice(nothing[0], NULL, nobody[0], NULL, BYTES, 0);
        break;
    }
    pthread_cleanup_pop(0);
    return NULL;
}

/* True if the thread was cancelled and ran its cleanup handler. */
static bool is_cancelled(int which, useconds_t after_us)
{
    pthread_t thread;
    void *result = NULL;
    cleaned = false;
    pthread_create(&thread, NULL, wait_in, &which);
    if (after_us)
        usleep(after_us);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED && cleaned;
}

static void check_cancel(int n)
{
    if (pipe(nowhere) || pipe(nothing) || socketpair(AF_UNIX, SOCK_STREAM, 0, nobody))
        perror("cancel");
    for (int i = 0; i < n; i++)
        for (int which = 0; which < 4; which++)
            if (!is_cancelled(which, i % 2 ? 2000 : 0))
                printf("%d was not cancelled\n", which);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 1;
    open_ends();
    if (!strcmp(what, "direct")) {
        void *libc = dlopen("libc.so.6", RTLD_NOW);
        *(void **)&call = libc ? dlsym(libc, "syscall") : NULL;
        if (!call)
            return 2;
    }
    if (!strcmp(what, "names"))
        for (int kind = 0; kind < N_KINDS; kind++)
            puts(kinds[kind].name);
    else if (!strcmp(what, "cancel"))
        check_cancel(n);
    else if (!strcmp(what, "alarm"))
        check_alarm(n);
    else
        check(strcmp(what, "named") ? BARE : NAMED, n);
    return 0;
}
