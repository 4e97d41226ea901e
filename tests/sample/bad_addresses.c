/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gives the kernel addresses that cannot be read where it expects vectors, messages, signal masks
 * and filters, by function and by number, and strange time limits. Prints the result of each call.
 *
 * The addresses: a small number, a page without rights, and the last 8 bytes of a page behind which
 * nothing is mapped, so that a part of most structures can be read.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MODE_FILTER = 2 /* SECCOMP_MODE_FILTER */, SET_FILTER = 1 /* SECCOMP_SET_MODE_FILTER */ };

static void tell(const char *call, const char *where, long result)
{
    printf("%s %s %ld %s\n", call, where, result, result < 0 ? strerror(errno) : "");
}
#define TELL(call) tell(#call, where, call)

/* Calls with a bad mask. They return at once, because their timeout is 0. */
static void give_masks(const char *where, void *bad, int epoll)
{
    struct timespec none = {0, 0};
    struct epoll_event event;
    struct {
        void *mask;
        size_t size;
    } sized = {bad, 8};
    TELL(ppoll(NULL, 0, &none, bad));
    TELL(pselect(0, NULL, NULL, NULL, &none, bad));
    TELL(epoll_pwait(epoll, &event, 1, 0, bad));
    TELL(sigtimedwait(bad, NULL, &none));
    TELL(signalfd(-1, bad, SFD_CLOEXEC));
    TELL(syscall(SYS_ppoll, NULL, 0L, &none, bad, 8L));
    TELL(syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &none, &sized));
    TELL(syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &none, bad));
    TELL(syscall(SYS_epoll_pwait, epoll, &event, 1L, 0L, bad, 8L));
    TELL(syscall(SYS_rt_sigtimedwait, bad, NULL, &none, 8L));
}

static void give_vectors(const char *where, void *bad, int fd, int socket)
{
    struct msghdr message = {.msg_iov = bad, .msg_iovlen = 3};
    TELL(writev(fd, bad, 3));
    TELL(readv(fd, bad, 3));
    TELL(pwritev2(fd, bad, 3, 0, 0));
    TELL(sendmsg(socket, bad, MSG_DONTWAIT));
    TELL(sendmsg(socket, &message, MSG_DONTWAIT));
    TELL(recvmsg(socket, bad, MSG_DONTWAIT));
    TELL(syscall(SYS_writev, fd, bad, 3L));
    TELL(syscall(SYS_readv, fd, bad, 3L));
    TELL(syscall(SYS_sendmsg, socket, bad, (long)MSG_DONTWAIT));
    TELL(syscall(SYS_sendmsg, socket, &message, (long)MSG_DONTWAIT));
}

/* The descriptor can be read, so that a valid limit does not matter. */
static void give_limits(int fd)
{
    const struct timeval limits[] = {
        {LONG_MAX, 1500000}, {LONG_MAX - 1, 1500000}, {1, 2500000}, {5, -2000000}, {5, -1},
        {-1, 1500000}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct timeval limit = limits[i];
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        tell("select", "limit", select(fd + 1, &set, NULL, NULL, &limit));
    }
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *closed = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int pair[2], fd = open("/dev/null", O_RDWR), epoll = epoll_create1(0);
    if (two == MAP_FAILED || closed == MAP_FAILED || munmap(two + page, page) || fd < 0 ||
        epoll < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    const struct {
        const char *name;
        void *address;
    } bad[] = {{"low", (void *)(uintptr_t)64}, {"closed", closed}, {"end", two + page - 8}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        give_masks(bad[i].name, bad[i].address, epoll);
        give_vectors(bad[i].name, bad[i].address, fd, pair[0]);
    }
    give_limits(fd);
    /* These calls come last, because sampling ends at them. */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *where = bad[i].name;
        TELL(prctl(PR_SET_SECCOMP, MODE_FILTER, bad[i].address));
        TELL(syscall(SYS_seccomp, (long)SET_FILTER, 0L, bad[i].address));
    }
    return 0;
}
