/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts page faults of its own stretches with libpccount and by hand: each page of a new mapping
 * is one. Prints "CASE COUNTED TRUE" for each case.
 */
#define _GNU_SOURCE 1

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pcollect/count.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, N_THREADS = 8 };

static struct pccount *count;
static unsigned long long told; /* at the end of threads */
static unsigned n_told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void touch(size_t n)
{
    char *at = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, n * PAGE, MADV_NOHUGEPAGE))
        exit(3);
    for (size_t i = 0; i < n; i++)
        ((volatile char *)at)[i * PAGE] = 1;
    munmap(at, n * PAGE);
}

static void say(const char *what, unsigned long long counted, unsigned long long truth)
{
    printf("%s %llu %llu\n", what, counted, truth);
}

static unsigned long long mine(struct pccount *c)
{
    struct pccount_values v;
    return pccount_thread(c, &v) ? 0 : v.value[0];
}

static struct pccount_values total(struct pccount *c)
{
    struct pccount_values v;
    pccount_total(c, &v);
    return v;
}

static int n_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void stretches(void)
{
    touch(300); /* outside */
    for (int i = 0; i < 10; i++) {
        errno = 4711;
        pccount_begin(count);
        touch(100);
        pccount_end(count);
        touch(50);
    }
    say("stretches", mine(count), 1000);
    say("errno", (unsigned long long)errno, 4711);
    say("total", total(count).value[0], 1000);
}

/* Two counts overlap; one is nested in itself. */
static void nested(void)
{
    struct pccount *inner = pccount_new("page-faults,task-clock", NULL);
    unsigned long long before = mine(count);
    pccount_begin(count);
    touch(100);
    pccount_begin(inner);
    touch(200);
    pccount_begin(count);
    touch(400);
    pccount_end(count);
    touch(800);
    pccount_end(count);
    touch(1600);
    pccount_end(inner);
    say("outer", mine(count) - before, 1500);
    say("inner", mine(inner), 3000);
    say("no-begin", (unsigned long long)(pccount_end(count) + 10), 9);
    pccount_free(inner);
}

/* Calls that fail as the first of their thread, and one after them that does not. */
static void *explain(void *number)
{
    struct pccount_values v;
    unsigned *right = number;
    *right += pccount_end(count) == -1 && strstr(pccount_why(count), "without a begin");
    *right += pccount_thread(count, &v) == -1 && strstr(pccount_why(count), "has not counted");
    *right += pccount_begin(count) == 0 && !*pccount_why(count) && pccount_end(count) == 0;
    *right += pccount_thread(count, &v) == 0 && !*pccount_why(count);
    return NULL;
}

static void *explain_thread(void *number)
{
    struct pccount_values v;
    unsigned *right = number;
    *right += pccount_thread(count, &v) == -1 && strstr(pccount_why(count), "has not counted");
    return NULL;
}

/* Views of what is not there, and of this process without a free descriptor. */
static unsigned refuse_views(void)
{
    enum { NOBODY = 0x7ffffffe };
    static const struct {
        enum pccount_view_of of;
        int id;
        const char *why;
    } rows[] = {
        {PCCOUNT_THREAD, NOBODY, ": there is no such thread"},
        {PCCOUNT_THREAD, -1, "-1: there is no such thread"},
        {PCCOUNT_THREAD, -3, "-3: there is no such thread"},
        {PCCOUNT_EXEC, NOBODY, ": there is no such process"},
        {PCCOUNT_EXEC, -3, "-3: there is no such process"},
        {PCCOUNT_PROCESS, NOBODY, ": there is no such process"},
        {PCCOUNT_PROCESS, -3, "-3: there is no such process"},
        {PCCOUNT_PROCESSOR, 99999, "99999: there is no such processor"},
        {PCCOUNT_PROCESSOR, -1, "-1: there is no such processor"},
    };
    const size_t n = sizeof rows / sizeof *rows;
    struct rlimit before, none;
    struct pccount_error why;
    unsigned right = 0;
    for (size_t i = 0; i < n; i++) {
        bool refused = !pccount_view_new(count, rows[i].of, rows[i].id, &why);
        right += refused && strstr(why.text, rows[i].why);
        if (!refused || !strstr(why.text, rows[i].why))
            fprintf(stderr, "row %zu: %s\n", i, refused ? why.text : "not refused");
    }
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    right += !pccount_view_new(count, PCCOUNT_PROCESS, getpid(), &why) &&
             strstr(why.text, "Too many open files (ulimit -n)");
    right += !pccount_view_new(count, PCCOUNT_MACHINE, 0, &why) &&
             strstr(why.text, "Too many open files (ulimit -n)");
    setrlimit(RLIMIT_NOFILE, &before);
    return right;
}

static void reasons(void)
{
    unsigned right = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, explain, &right);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, explain_thread, &right);
    pthread_join(thread, NULL);
    say("reasons", right + refuse_views(), 5 + 11);
}

static void *work(void *pages)
{
    pccount_begin(count);
    touch((size_t)pages);
    pccount_end(count);
    touch(1000);
    return NULL;
}

static void take(void *arg, const struct pccount_values *v)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    told += v->value[0];
    n_told++;
    pthread_mutex_unlock(&lock);
}

static void in_threads(size_t n_rounds)
{
    unsigned long long before = total(count).value[0], n_ended = total(count).n_ended, truth = 0;
    int n_fds = n_descriptors();
    told = n_told = 0;
    for (size_t k = 0; k < n_rounds; k++) {
        pthread_t threads[N_THREADS];
        for (size_t i = 0; i < N_THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)(10 * (i + 1)));
        for (size_t i = 0; i < N_THREADS; i++)
            pthread_join(threads[i], NULL);
        truth += 10 * N_THREADS * (N_THREADS + 1) / 2;
    }
    say("threads", total(count).value[0] - before, truth);
    say("at-their-end", told, truth);
    say("n-told", n_told, n_rounds * N_THREADS);
    say("n-ended", total(count).n_ended - n_ended, n_rounds * N_THREADS);
    say("descriptors", (unsigned long long)n_descriptors(), (unsigned long long)n_fds);
}

/* Without a free descriptor a thread does not begin, and is none of those that have counted. */
static void without_descriptors(void)
{
    struct pccount_values before = total(count), after;
    struct rlimit limit;
    pthread_t thread;
    getrlimit(RLIMIT_NOFILE, &limit);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max});
    pthread_create(&thread, NULL, work, (void *)100);
    pthread_join(thread, NULL);
    setrlimit(RLIMIT_NOFILE, &limit);
    after = total(count);
    say("not-begun", after.value[0] - before.value[0], 0);
    say("n-threads", after.n_threads - before.n_threads, 0);
    say("n-ended", after.n_ended - before.n_ended, 0);
}

static void *begin_and_stay(void *other)
{
    pccount_begin(other);
    pccount_end(other);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void count_call(void *arg, const struct pccount_values *v)
{
    (void)v;
    ++*(unsigned *)arg;
}

/* A count of its own for a thread, which has come to the barrier when this returns. */
static struct pccount *count_thread(pthread_t *thread, void *(*function)(void *),
                                    void (*take)(void *, const struct pccount_values *), void *arg)
{
    struct pccount *other = pccount_new("page-faults", NULL);
    pccount_at_thread_end(other, take, arg);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(thread, NULL, function, other);
    pthread_barrier_wait(&barrier);
    return other;
}

/* A count is freed while two threads that have counted live, the calling one among them. */
static void freed(void)
{
    unsigned n_calls = 0;
    pthread_t thread;
    struct pccount *other = count_thread(&thread, begin_and_stay, count_call, &n_calls);
    pccount_begin(other);
    pccount_end(other);
    pccount_free(other);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    say("told-after-free", n_calls, 0);
}

static void *begin_and_end(void *other)
{
    pccount_begin(other);
    pccount_end(other);
    return NULL;
}

static struct pccount *short_count; /* NULL: the thread ends */

static void *count_each(void *arg)
{
    for (pthread_barrier_wait(&barrier); short_count; pthread_barrier_wait(&barrier)) {
        begin_and_end(short_count);
        pthread_barrier_wait(&barrier);
    }
    return arg;
}

/* A thread that lives on counts for one count after another, each of which is freed. */
static void many_counts(void)
{
    pthread_t thread;
    int n_fds = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, count_each, NULL);
    for (int i = 0; i < 20; i++) {
        short_count = pccount_new("page-faults", NULL);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        pccount_free(short_count);
        n_fds = i ? n_fds : n_descriptors();
    }
    say("after-20-counts", (unsigned long long)n_descriptors(), (unsigned long long)n_fds);
    short_count = NULL;
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
}

static void take_long(void *arg, const struct pccount_values *v)
{
    (void)v;
    pthread_barrier_wait(&barrier);
    usleep(100000);
    *(volatile unsigned *)arg = 1;
}

/* A count is freed while a thread is in the function of its end. */
static void freed_meanwhile(void)
{
    unsigned returned = 0;
    pthread_t thread;
    struct pccount *other = count_thread(&thread, begin_and_end, take_long, &returned);
    pccount_free(other);
    say("free-waits", *(volatile unsigned *)&returned, 1);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
}

static void *touch_200(void *arg)
{
    (void)arg;
    touch(200);
    return NULL;
}

/* A view of the calling thread includes all that the thread starts. */
static void inherited(void)
{
    struct pccount_error why = {""};
    struct pccount_values v = {{0}, 0, 0};
    struct pccount_view *view = pccount_view_new(count, PCCOUNT_THREAD, 0, &why);
    pthread_t thread;
    pid_t child;
    if (!view) {
        printf("inherited %s\n", why.text);
        return;
    }
    touch(100);
    pccount_view_start(view);
    touch(1000);
    pthread_create(&thread, NULL, touch_200, NULL);
    pthread_join(thread, NULL);
    if (!(child = fork())) {
        touch(3000);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pccount_view_stop(view);
    touch(500);
    pccount_view_read(view, &v);
    say("inherited", v.value[0], 4200);
    pccount_view_free(view);
}

static void close_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; (e = readdir(dir));)
        if (atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(dir))
            close(atoi(e->d_name));
    closedir(dir);
}

enum { N_FILES = 32 };

/* Opens files of the program where descriptors were closed. Reading them gives data of any size. */
static void open_files(int *files)
{
    for (int i = 0; i < N_FILES; i++)
        files[i] = open("/dev/zero", O_RDONLY);
}

/* Number of files that are still open; closes them. */
static unsigned close_files(const int *files)
{
    unsigned n = 0;
    for (int i = 0; i < N_FILES; i++)
        n += close(files[i]) == 0;
    return n;
}

/* The program closes the descriptors of views, and of a thread that runs on and one that ends, and
 * opens files that get their numbers: what is missing is not given out as a total, then or later,
 * and the files are neither read nor closed. */
static void closed(void)
{
    unsigned right = 0;
    int files[N_FILES];
    struct pccount_values v;
    pthread_t thread;
    struct pccount *other = count_thread(&thread, begin_and_stay, NULL, NULL);
    struct pccount_view *view = pccount_view_new(other, PCCOUNT_THREAD, 0, NULL);
    struct pccount_view *unused = pccount_view_new(other, PCCOUNT_THREAD, 0, NULL);
    right += pccount_total(other, &v) == 0 && v.n_threads == 1;
    right += pccount_view_start(view) == 0 && pccount_view_read(view, &v) == 0;
    close_descriptors();
    open_files(files);
    right += pccount_total(other, &v) == -1 && strstr(pccount_why(other), "has closed");
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    right += pccount_total(other, &v) == -1 && strstr(pccount_why(other), "has closed");
    right += pccount_view_read(view, &v) == -1 && strstr(pccount_view_why(view), "has closed");
    for (int i = 0; i < 2; i++) {
        right += pccount_view_stop(view) == -1 && strstr(pccount_view_why(view), "has closed");
        right += pccount_view_start(unused) == -1 && strstr(pccount_view_why(unused), "has closed");
    }
    pccount_view_free(view);
    pccount_view_free(unused);
    right += close_files(files) == N_FILES;
    pccount_free(other);
    pthread_barrier_destroy(&barrier);
    say("closed", right, 10);
}

static void *begin_beside(void *arg)
{
    pccount_begin(count);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    pccount_end(count);
    return arg;
}

/* True if nothing counts in this child of fork: neither a count that its parent had, nor a new one,
 * nor a view. */
static bool refuses_all(struct pccount_view *view)
{
    static const char reason[] = "a child of fork does not count before exec";
    struct pccount_values v;
    struct pccount_error of_new = {""}, of_view = {""};
    return pccount_begin(count) == -1 && pccount_end(count) == -1 &&
           pccount_thread(count, &v) == -1 && pccount_total(count, &v) == -1 &&
           !strcmp(pccount_why(count), reason) && !pccount_new("page-faults", &of_new) &&
           !strcmp(of_new.text, reason) && !pccount_view_new(count, PCCOUNT_THREAD, 0, &of_view) &&
           !strcmp(of_view.text, reason) && pccount_view_read(view, &v) == -1 &&
           !strcmp(pccount_view_why(view), reason) && pccount_view_start(view) == -1;
}

/* A child that is made before the first begin; it does not stop its parent's view either. */
static void forked_early(void)
{
    struct pccount_values v = {{0}, 0, 0};
    int status = 0;
    struct pccount_view *view = pccount_view_new(count, PCCOUNT_THREAD, 0, NULL);
    pccount_view_start(view);
    pid_t child = fork();
    if (!child) {
        pccount_view_stop(view);
        bool refused = refuses_all(view);
        pccount_view_free(view);
        pccount_free(count);
        _exit(refused ? 0 : 1);
    }
    waitpid(child, &status, 0);
    touch(1000);
    pccount_view_stop(view);
    pccount_view_read(view, &v);
    pccount_view_free(view);
    say("early-child", (unsigned long long)status, 0);
    say("view-goes-on", v.value[0] >= 1000, 1);
}

/* A child of fork does not count, nor does it disturb its parent, which is in a stretch. It has no
 * descriptor of the parent's counters, of whatever thread. */
static void forked(int n_fds)
{
    unsigned long long before = mine(count);
    int status = 0;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, begin_beside, NULL);
    pthread_barrier_wait(&barrier);
    pccount_begin(count);
    touch(100);
    pid_t child = fork();
    if (!child) {
        int begun = pccount_begin(count);
        touch(5000);
        pccount_end(count);
        if (n_descriptors() != n_fds)
            _exit(2);
        _exit(begun == -1 && strstr(pccount_why(count), "child of fork") ? 0 : 1);
    }
    waitpid(child, &status, 0);
    pccount_end(count);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    say("child", (unsigned long long)status, 0);
    say("parent", mine(count) - before, 100);
}

int main(int argc, char **argv)
{
    struct pccount_error why = {""};
    count = pccount_new(argc > 1 ? argv[1] : "page-faults", &why);
    if (!count)
        return printf("%s\n", why.text), 1;
    pccount_at_thread_end(count, take, NULL);
    int n_fds = n_descriptors();
    forked_early();
    stretches();
    nested();
    in_threads(argc > 2 ? (size_t)atoi(argv[2]) : 100);
    freed();
    freed_meanwhile();
    many_counts();
    without_descriptors();
    inherited();
    forked(n_fds);
    reasons();
    pccount_free(count);
    say("left-open", (unsigned long long)n_descriptors(), (unsigned long long)n_fds);
    closed();
    return 0;
}
