/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts that a process can see of itself and that a watching process must not change, as lines of
 * text: descriptors, threads and who traces them, signals, timers, memory and code, limits.
 */
#ifndef OWN_STATE_H
#define OWN_STATE_H

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

struct own_state {
    size_t n;
    char text[1 << 18];
};

static inline __attribute__((format(printf, 2, 3))) void own_put(struct own_state *s,
                                                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->text + s->n, sizeof s->text - s->n, format, args);
    va_end(args);
    s->n += (size_t)n < sizeof s->text - s->n ? (size_t)n : 0;
}

/* A whole file of /proc, in memory that is there once. */
static inline char *own_read(const char *path)
{
    static char text[1 << 17];
    size_t n = 0;
    int fd = open(path, O_RDONLY);
    for (ssize_t got;
         fd >= 0 && n < sizeof text - 1 && (got = read(fd, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    return text;
}

static inline void own_descriptors(struct own_state *s)
{
    DIR *folder = opendir("/proc/self/fd");
    char path[300], to[512];
    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (*e->d_name == '.' || atoi(e->d_name) == dirfd(folder))
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(path, to, sizeof to - 1);
        own_put(s, "descriptor %s: %.*s\n", e->d_name, n > 0 ? (int)n : 0, to);
    }
    if (folder)
        closedir(folder);
}

/* A thread that computes may wait the next time: only whether it is stopped is compared. */
static inline void own_thread(struct own_state *s, const char *tid)
{
    static const char *const names[] = {
        "Name:",   "TracerPid:", "Uid:",    "Umask:",  "Threads:",    "SigPnd:",  "ShdPnd:",
        "SigBlk:", "SigIgn:",    "SigCgt:", "CapEff:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed:"};
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
    char *text = own_read(path), *state = strstr(text, "\nState:");
    own_put(s, "thread %s: stopped: %s\n", tid, !state || strchr("tT", state[8]) ? "yes" : "no");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strncmp(line, names[i], strlen(names[i])))
                own_put(s, "thread %s: %s\n", tid, line);
}

static inline void own_threads(struct own_state *s)
{
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (*e->d_name != '.')
            own_thread(s, e->d_name);
    if (folder)
        closedir(folder);
}

/* Libc fills only the first 8 bytes of a mask. */
static inline void own_signals(struct own_state *s)
{
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction a;
        uint64_t mask;
        memset(&a, 0, sizeof a);
        if (sigaction(i, NULL, &a))
            continue;
        memcpy(&mask, &a.sa_mask, sizeof mask);
        own_put(s, "signal %d: handler %p flags %x mask %llx\n", i, (void *)(uintptr_t)a.sa_handler,
                (unsigned)a.sa_flags, (unsigned long long)mask);
    }
}

static inline void own_timers(struct own_state *s)
{
    for (int i = ITIMER_REAL; i <= ITIMER_PROF; i++) {
        struct itimerval t = {{0, 0}, {0, 0}};
        getitimer((enum __itimer_which)i, &t);
        own_put(s, "timer %d: %s, every %ld.%06ld s\n", i,
                t.it_value.tv_sec || t.it_value.tv_usec ? "on" : "off", (long)t.it_interval.tv_sec,
                (long)t.it_interval.tv_usec);
    }
    own_put(s, "timers: %s\n", own_read("/proc/self/timers"));
}

static inline uint64_t own_sum(const unsigned char *from, const unsigned char *to)
{
    uint64_t sum = 14695981039346656037u, word;
    for (; from < to; from += sizeof word) {
        memcpy(&word, from, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

static inline void own_memory(struct own_state *s)
{
    for (char *line = strtok(own_read("/proc/self/maps"), "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long from = 0, to = 0;
        char rights[5] = "";
        own_put(s, "memory: %s\n", line);
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && !strcmp(rights, "r-xp"))
            own_put(s, "code at %lx: %llx\n", from,
                    (unsigned long long)own_sum((unsigned char *)(uintptr_t)from,
                                                (unsigned char *)(uintptr_t)to));
    }
}

static inline void own_rest(struct own_state *s)
{
    char folder[4096];
    int death = 0;
    prctl(PR_GET_PDEATHSIG, &death);
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        struct rlimit limit = {0, 0};
        getrlimit((__rlimit_resource_t)i, &limit);
        own_put(s, "limit %d: %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
                (unsigned long long)limit.rlim_max);
    }
    own_put(
        s,
        "personality %x, dumpable %d, signal at the death of the parent %d, slack of timers %d\n",
        (unsigned)personality(0xffffffff), prctl(PR_GET_DUMPABLE), death, prctl(PR_GET_TIMERSLACK));
    own_put(s, "scheduling %d, nice %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
    own_put(s, "folder %s\n", getcwd(folder, sizeof folder) ? folder : "");
}

static inline void own_state_take(struct own_state *s)
{
    s->n = 0;
    own_descriptors(s);
    own_threads(s);
    own_signals(s);
    own_timers(s);
    own_rest(s);
    own_memory(s);
}

/* The first line that differs, of each; returns 0 if none does. */
static inline int own_state_differs(const struct own_state *before, const struct own_state *now,
                                    char *text, size_t n)
{
    const char *a = before->text, *b = now->text;
    size_t begin = 0, i = 0;
    for (; i < before->n && i < now->n && a[i] == b[i]; i++)
        begin = a[i] == '\n' ? i + 1 : begin;
    if (i == before->n && i == now->n)
        return 0;
    a += begin;
    b += begin;
    snprintf(text, n, "'%.*s' was '%.*s'", (int)strcspn(b, "\n"), b, (int)strcspn(a, "\n"), a);
    return 1;
}

#endif
