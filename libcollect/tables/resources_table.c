/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `resources`: the kernel's figures about the process, one row for each rank, from the
 * end of MPI_Init (or the start of a program without it) to the merge, without what MPI_Pcontrol
 * leaves out. Written once, by the thread that merges.
 *
 * The time of the main thread is divided: on a processor, able to run with no processor free, and
 * the rest, in which it was blocked.
 */
#include "libcollect/context/thread.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Counts that do not belong to the run, and the counts when it was left last. */
static uint64_t left_out[PC_RESOURCE_N], left_at[PC_RESOURCE_N];

/* Time that was left out so far; times when the run began and when it was left last. */
static uint64_t paused_ns, began_at_ns, paused_at_ns;

/* CPU time when the run began. */
static uint64_t before_ns;

/* A number of /proc/PID/task/TID/sched, which is there if the kernel was built with
 * CONFIG_SCHED_DEBUG: seen in Linux 6.18. */
static uint64_t read_migrations(int folder, const char *tid)
{
    static const char name[] = "se.nr_migrations";
    char path[64], text[2048];
    uint64_t n_moves = 0;
    pc_format(path, sizeof path, "%s/sched", tid);
    int fd = pc_file_open(folder, path, O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t n = pc_file_read(fd, text, sizeof text - 1);
    pc_file_close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, name);
    for (at = at ? at + sizeof name - 1 : ""; *at == ' ' || *at == ':'; at++)
        ;
    for (; *at >= '0' && *at <= '9'; at++)
        n_moves = n_moves * 10 + (uint64_t)(*at - '0');
    return n_moves;
}

/* Figures of all threads that are there. */
struct tasks {
    uint64_t n_moves;
    cpu_set_t bound; /* processors of any of them */
};

/* The processors of one thread are not those of the process: OpenMP's runtime may bind each thread,
 * and the main thread too, to one of its own. */
static void look_at_tasks(struct tasks *all)
{
    cpu_set_t own;
    memset(all, 0, sizeof *all);
    if (!sched_getaffinity(0, sizeof own, &own))
        all->bound = own;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) {
        if (entry->d_name[0] == '.')
            continue;
        all->n_moves += read_migrations(dirfd(tasks), entry->d_name);
        if (!sched_getaffinity((pid_t)strtol(entry->d_name, NULL, 10), sizeof own, &own))
            CPU_OR(&all->bound, &all->bound, &own);
    }
    closedir(tasks);
}

static uint64_t to_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* Reads the counters that only grow; the other values stay as they are. */
static void read_counts(uint64_t v[PC_RESOURCE_N])
{
    struct rusage usage;
    int32_t main_thread = (int32_t)getpid();
    v[PC_RESOURCE_DELAYED] = pc_thread_delayed_ns(main_thread);
    v[PC_RESOURCE_ON_CPU] = pc_thread_cpu_ns(main_thread);
    uint64_t there_ns = pc_mono_ns(), ran_ns = v[PC_RESOURCE_ON_CPU] + v[PC_RESOURCE_DELAYED];
    v[PC_RESOURCE_BLOCKED] = v[PC_RESOURCE_ON_CPU] && there_ns > ran_ns ? there_ns - ran_ns : 0;
    if (getrusage(RUSAGE_SELF, &usage))
        return;
    v[PC_RESOURCE_USER] = to_ns(usage.ru_utime);
    v[PC_RESOURCE_SYSTEM] = to_ns(usage.ru_stime);
    v[PC_RESOURCE_MINOR] = (uint64_t)usage.ru_minflt;
    v[PC_RESOURCE_MAJOR] = (uint64_t)usage.ru_majflt;
    v[PC_RESOURCE_WAITS] = (uint64_t)usage.ru_nvcsw;
    v[PC_RESOURCE_PREEMPTED] = (uint64_t)usage.ru_nivcsw;
    if (!getrusage(RUSAGE_CHILDREN, &usage))
        v[PC_RESOURCE_CHILDREN] = to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
}

int pc_usage_start(void)
{
    pc_usage_init_end(); /* counts from here if MPI_Init is never called */
    return pc_table_add("pcollect", &pc_table_resources);
}

void pc_usage_init_end(void)
{
    int saved = errno;
    read_counts(left_out);
    memcpy(left_at, left_out, sizeof left_at);
    before_ns = left_out[PC_RESOURCE_USER] + left_out[PC_RESOURCE_SYSTEM];
    began_at_ns = pc_mono_ns();
    errno = saved;
}

void pc_usage_leave(void)
{
    paused_at_ns = pc_mono_ns();
    pc_thread_times_book();
    read_counts(left_at);
}

void pc_usage_return(void)
{
    uint64_t now[PC_RESOURCE_N] = {0};
    pc_thread_times_skip();
    read_counts(now);
    for (unsigned i = 0; i < PC_RESOURCE_N; i++)
        left_out[i] += now[i] > left_at[i] ? now[i] - left_at[i] : 0;
    paused_ns += pc_mono_ns() - paused_at_ns;
}

void pc_usage_reset(void)
{
    pc_thread_times_reset();
    read_counts(left_out);
    memcpy(left_at, left_out, sizeof left_at);
    paused_at_ns = pc_mono_ns();
    paused_ns = paused_at_ns - began_at_ns;
}

void pc_usage_note(void)
{
    const uint64_t key = (uint64_t)(int64_t)PCOLLECT_RANK_SELF;
    int saved = errno;
    uint64_t *v = pc_table_row(pc_thread_current(), &pc_table_resources, &key);
    struct rusage usage;
    struct tasks tasks;
    char cpus[PCOLLECT_STRING_BYTES + 2];
    if (v) {
        read_counts(v);
        /* A process that has just begun may not have been delayed yet; one at its end, where the
         * kernel counts it, has. */
        if (!v[PC_RESOURCE_DELAYED])
            v[PC_RESOURCE_BLOCKED] = 0;
        for (unsigned i = 0; i < PC_RESOURCE_N; i++)
            v[i] = v[i] > left_out[i] ? v[i] - left_out[i] : 0;
        if (!getrusage(RUSAGE_SELF, &usage))
            v[PC_RESOURCE_MEMORY] = (uint64_t)usage.ru_maxrss * 1024u;
        v[PC_RESOURCE_CPU] = (uint64_t)sched_getcpu();
        v[PC_RESOURCE_PAUSED] = paused_ns;
        v[PC_RESOURCE_BEFORE] = before_ns;
        look_at_tasks(&tasks);
        v[PC_RESOURCE_MIGRATIONS] = tasks.n_moves;
        v[PC_RESOURCE_CPUS] = (uint64_t)CPU_COUNT(&tasks.bound);
        pc_cpus_put(&tasks.bound, cpus, sizeof cpus);
        v[PC_RESOURCE_BOUND] = pc_table_string(cpus);
    }
    errno = saved;
}
