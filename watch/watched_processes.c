/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selects the processes to watch: the named one, or the ranks below it.
 *
 * A process is below another if it descends from it. A rank is a process with a launcher's
 * variables. Shells and scripts between the launcher and the program inherit these variables, so
 * that several processes claim one rank: the one with an MPI library is taken, of several the
 * innermost.
 */
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "base/script.h"
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process that claims to be a rank. */
struct claim {
    struct pct_watched who;
    int world;
    int depth; /* below the process that was named */
    bool mpi;  /* an MPI library is loaded */
};

struct claims {
    struct claim *at;
    size_t n, room;
};

/* As pct_watch_file, of a path. */
static char *read_whole(const char *path, size_t *n)
{
    char *text = NULL;
    size_t room = 0, used = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    do {
        used += (size_t)got;
        text = pct_grow(text, used + 4096, &room, 1);
        got = read(fd, text + used, room - used - 1);
    } while (got > 0);
    int why = errno;
    close(fd);
    if (got < 0) {
        pct_free(text);
        errno = why;
        return NULL;
    }
    text[used] = '\0';
    *n = used;
    return text;
}

char *pct_watch_file(int pid, const char *name, size_t *n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return read_whole(path, n);
}

uint64_t pct_watch_program(int pid)
{
    size_t n;
    char *text = pct_watch_file(pid, "auxv", &n);
    uint64_t program = text && n ? pc_hash_bytes(text, n, 0) : 0;
    pct_free(text);
    return program;
}

size_t pct_watch_path_bytes(const char *path)
{
    static const char removed[] = " (deleted)"; /* the kernel's word */
    size_t n = strlen(path), cut = sizeof removed - 1;
    return n > cut && !strcmp(path + n - cut, removed) && access(path, F_OK) ? n - cut : n;
}

void pct_watch_exe(int pid, char *path, size_t n)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", pct_watch_view(pid));
    ssize_t got = readlink(link, path, n - 1);
    path[got > 0 ? got : 0] = '\0';
    path[pct_watch_path_bytes(path)] = '\0';
}

static void take_living(void *view, int tid)
{
    struct pc_process_status p;
    if (pc_process_look(tid, &p) && p.state != 'Z' && p.state != 'X')
        *(int *)view = tid;
}

int pct_watch_view(int pid)
{
    char path[64];
    struct pc_process_status p;
    int view = pid;
    if (!pc_process_look(pid, &p) || p.state != 'Z')
        return pid;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    pc_proc_numbers(path, take_living, &view);
    return view;
}

/* True if an MPI library is loaded. One that is linked into the program is not seen. */
static bool has_mpi(int pid)
{
    size_t n;
    char *maps = pct_watch_file(pct_watch_view(pid), "maps", &n), *rest = maps, *line;
    bool has = false;
    while (!has && rest && (line = strsep(&rest, "\n"))) {
        const char *path = strchr(line, '/');
        has = path && pct_watch_is_mpi(path);
    }
    pct_free(maps);
    return has;
}

struct pc_config_launch pct_watch_launch(int pid)
{
    size_t n;
    char *environment = pct_watch_file(pct_watch_view(pid), "environ", &n);
    struct pc_config_launch l = environment ? pc_config_launch_of(pid, environment, n)
                                            : (struct pc_config_launch){.rank = -1};
    pct_free(environment);
    return l;
}

static void look_at(struct claims *c, int pid, int depth)
{
    struct pc_config_launch l = pct_watch_launch(pid);
    if (l.rank < 0)
        return;
    c->at = pct_grow(c->at, c->n, &c->room, sizeof *c->at);
    c->at[c->n++] =
        (struct claim){{.pid = pid, .rank = l.rank, .key = l.key}, l.n_ranks, depth, has_mpi(pid)};
}

struct pct_descent {
    int pid, parent;
};

struct descents {
    struct pct_descent *of;
    size_t n, room;
};

static void add_descent(void *arg, int pid)
{
    struct descents *all = arg;
    struct pc_process_status p;
    if (!pc_process_look(pid, &p))
        return;
    all->of = pct_grow(all->of, all->n, &all->room, sizeof *all->of);
    all->of[all->n++] = (struct pct_descent){p.pid, p.parent};
}

static int compare_parents(const void *left, const void *right)
{
    const struct pct_descent *a = left, *b = right;
    return (a->parent > b->parent) - (a->parent < b->parent);
}

/* All processes of the machine, by parent. */
static struct pct_descent *list_processes(size_t *n)
{
    struct descents all = {0};
    pc_proc_numbers("/proc", add_descent, &all);
    if (all.n)
        qsort(all.of, all.n, sizeof *all.of, compare_parents);
    *n = all.n;
    return all.of;
}

static void list_once(struct pct_watched_job *job)
{
    if (!job->all)
        job->all = list_processes(&job->n_all);
}

/* The index of the first process whose parent is not below that number. */
static size_t first_below(const struct pct_descent *all, size_t n, int parent)
{
    size_t from = 0;
    while (n) {
        size_t half = n / 2;
        bool later = all[from + half].parent < parent;
        from += later ? half + 1 : 0;
        n = later ? n - half - 1 : half;
    }
    return from;
}

static int parent_of(const struct pct_descent *all, size_t n, int pid)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].pid == pid)
            return all[i].parent;
    return 0;
}

/* Generations between a process and the first one, as far as they are known. */
static int depth_of(const struct pct_descent *all, size_t n, int pid)
{
    enum { MOST = 64 };
    int depth = 0;
    while (pid > 1 && depth < MOST) {
        pid = parent_of(all, n, pid);
        depth++;
    }
    return depth;
}

/* Finds processes below pid, one generation at a time: below[from..n) is the last one. */
static void look_below(struct claims *c, const struct pct_watched_job *job, int pid)
{
    size_t n = 1, room = 0;
    const struct pct_descent *end = job->all + job->n_all;
    int *below = pct_grow(NULL, 0, &room, sizeof *below);
    below[0] = pid;
    int depth = 1;
    for (size_t from = 0, to = 1; from < to; from = to, to = n, depth++)
        for (size_t i = from; i < to; i++) {
            const struct pct_descent *p = job->all + first_below(job->all, job->n_all, below[i]);
            for (; p < end && p->parent == below[i]; p++) {
                below = pct_grow(below, n, &room, sizeof *below);
                below[n++] = p->pid;
                look_at(c, p->pid, depth);
            }
        }
    pct_free(below);
}

static int compare_claims(const void *left, const void *right)
{
    const struct claim *a = left, *b = right;
    if (a->who.rank != b->who.rank)
        return a->who.rank < b->who.rank ? -1 : 1;
    if (a->who.key != b->who.key)
        return a->who.key < b->who.key ? -1 : 1;
    if (a->mpi != b->mpi)
        return a->mpi ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth > b->depth ? -1 : 1;
    return (a->who.pid > b->who.pid) - (a->who.pid < b->who.pid);
}

static void add(struct pct_watched_job *job, struct pct_watched who)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->processes[i].pid == who.pid)
            return;
    job->processes = pct_grow(job->processes, job->n, &job->room, sizeof *job->processes);
    job->processes[job->n++] = who;
}

/* Adds the ranks that processes claim to be. */
static void add_claimed(struct pct_watched_job *job, struct claims *c)
{
    if (c->n)
        qsort(c->at, c->n, sizeof *c->at, compare_claims);
    for (size_t i = 0; i < c->n; i++) {
        if (i && c->at[i].who.rank == c->at[i - 1].who.rank &&
            c->at[i].who.key == c->at[i - 1].who.key)
            continue;
        add(job, c->at[i].who);
        job->world = c->at[i].world > job->world ? c->at[i].world : job->world;
    }
}

void pct_watch_add_itself(struct pct_watched_job *job, int pid)
{
    add(job, (struct pct_watched){.pid = pid, .rank = -1});
}

int pct_watch_add(struct pct_watched_job *job, int pid, struct pc_error *error)
{
    struct pc_process_status p;
    struct claims c = {0};
    if (!pc_process_look(pid, &p))
        return pc_error_set(error, PC_ENOENT, "%d: there is no such process", pid);
    if (p.ended)
        return pc_error_set(error, PC_ENOENT, "%d: the process has ended", pid);
    look_at(&c, pid, 0);
    if (!c.n) {
        list_once(job);
        look_below(&c, job, pid);
        job->whole = !job->n;
    }
    if (!c.n)
        pct_watch_add_itself(job, pid);
    add_claimed(job, &c);
    pct_free(c.at);
    return PC_OK;
}

void pct_watch_comm(int pid, char comm[PCT_COMM_BYTES])
{
    char path[64], line[PCT_COMM_BYTES + 1];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    pc_read_small(path, line, sizeof line);
    snprintf(comm, PCT_COMM_BYTES, "%.*s", (int)strcspn(line, "\n"), line);
}

enum pc_launcher_role pct_watch_role(int pid)
{
    char name[PCT_COMM_BYTES];
    pct_watch_comm(pid, name);
    return pc_launcher_role(name);
}

void pct_watch_add_keyed(struct pct_watched_job *job, uint64_t key)
{
    struct claims c = {0};
    size_t n = 0;
    list_once(job);
    for (size_t i = 0; i < job->n_all; i++) {
        look_at(&c, job->all[i].pid, 0);
        if (c.n > n && c.at[n].who.key == key)
            c.at[n++].depth = depth_of(job->all, job->n_all, job->all[i].pid);
        else
            c.n = n;
    }
    add_claimed(job, &c);
    job->whole = true;
    pct_free(c.at);
}

bool pct_watch_have_children(const int *pids, size_t n)
{
    size_t n_all;
    struct pct_descent *all = list_processes(&n_all);
    bool have = false;
    for (size_t i = 0; i < n && !have; i++) {
        size_t at = first_below(all, n_all, pids[i]);
        have = at < n_all && all[at].parent == pids[i];
    }
    pct_free(all);
    return have;
}

bool pct_watch_lives(const int *ids, size_t n)
{
    struct pc_process_status p;
    for (size_t i = 0; i < n; i++)
        if (pc_process_look(ids[i], &p) && !p.ended)
            return true;
    return false;
}

struct ids {
    int *of;
    size_t n, room;
};

static void add_id(void *arg, int id)
{
    struct ids *ids = arg;
    ids->of = pct_grow(ids->of, ids->n, &ids->room, sizeof *ids->of);
    ids->of[ids->n++] = id;
}

int *pct_watch_threads(int pid, size_t *n)
{
    char path[64];
    struct ids ids = {0};
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    pc_proc_numbers(path, add_id, &ids);
    int *threads = ids.of;
    *n = ids.n;
    if (*n)
        qsort(threads, *n, sizeof *threads, pc_compare_ints);
    for (size_t i = 1; i < *n; i++) {
        if (threads[i] != pid)
            continue;
        memmove(threads + 1, threads, i * sizeof *threads);
        threads[0] = pid;
    }
    return threads;
}

/* True if a process has a thread that is not in the list, which has the order of
 * pct_watch_threads. */
static bool has_others(int pid, const int *threads, size_t n)
{
    size_t n_now, i = 0;
    int *now = pct_watch_threads(pid, &n_now);
    bool others = false;
    for (size_t k = 0; k < n_now && !others; k++, i++) {
        while (i < n && threads[i] != now[k])
            i++;
        others = i == n;
    }
    pct_free(now);
    return others;
}

/* Opens the threads that a process has. *others: it has others afterwards. */
static int open_threads(int pid, const struct pct_thread_opener *o, bool *others)
{
    size_t n;
    int status = 0, *threads = pct_watch_threads(pid, &n);
    for (size_t i = 0; i < n && !status; i++)
        status = o->open(o->arg, threads[i]);
    *others = has_others(pid, threads, n);
    pct_free(threads);
    return status;
}

int pct_watch_open_threads(const int *pids, size_t n, const struct pct_thread_opener *o, bool *all)
{
    enum { TRIES = 20 };
    int status = 0;
    *all = false;
    for (int k = 0; k < TRIES && !*all && !status; k++) {
        *all = true;
        status = o->begin(o->arg);
        for (size_t i = 0; i < n && !status; i++) {
            bool others;
            status = open_threads(pids[i], o, &others);
            *all = *all && !others;
        }
    }
    return status;
}

int *pct_watch_processors(size_t *n)
{
    struct ids ids = {0};
    bool listed = pc_online_processors(add_id, &ids);
    *n = listed ? ids.n : 0;
    if (listed)
        return ids.of;
    pct_free(ids.of);
    return NULL;
}

/* The time in use of a line of /proc/stat. */
static uint64_t used_ns_of(const char *fields)
{
    unsigned long long user, nice, system, idle, waiting, hard, soft;
    long hz = sysconf(_SC_CLK_TCK);
    int n = sscanf(fields, "%llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
                   &waiting, &hard, &soft);
    return n == 7 && hz > 0 ? (user + nice + system + hard + soft) * (1000000000u / (uint64_t)hz)
                            : UINT64_MAX;
}

uint64_t pct_watch_used_ns(const int *cpus, size_t n, uint64_t *each)
{
    uint64_t all = UINT64_MAX;
    size_t n_bytes;
    char *text = read_whole("/proc/stat", &n_bytes), *rest = text, *line, *fields;
    for (size_t i = 0; i < n; i++)
        each[i] = UINT64_MAX;
    while (rest && (line = strsep(&rest, "\n")) && !strncmp(line, "cpu", 3)) {
        long cpu = strtol(line + 3, &fields, 10);
        bool whole = line[3] == ' ';
        if (whole)
            all = used_ns_of(line + 3);
        for (size_t i = 0; i < n && !whole; i++)
            if (cpus[i] == cpu)
                each[i] = used_ns_of(fields);
    }
    pct_free(text);
    return all;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static bool is_mine(int pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", pid);
    return stat(path, &st) == 0 && (geteuid() == 0 || st.st_uid == geteuid());
}

static int parent_now(int pid)
{
    struct pc_process_status p;
    return pc_process_look(pid, &p) ? p.parent : 0;
}

/* The nearest ancestor that is not a rank; if that is a helper, its parent, unless this is a system
 * process. The first process, which adopts ranks, may be the launcher in a container. */
int pct_watch_launcher(int pid)
{
    int rank = 0;
    for (; pid > 0 && pct_watch_launch(pid).rank >= 0; pid = parent_now(pid))
        rank = pid;
    if (!rank)
        return 0; /* it has ended */
    enum pc_launcher_role role = pid > 0 ? pct_watch_role(pid) : PC_LAUNCHER_NONE;
    if (pid == 1 && role == PC_LAUNCHER_NONE)
        return rank;
    int above = role == PC_LAUNCHER_HELPER ? parent_now(pid) : 0;
    return above > 1 ? above : pid;
}

/* True if a variable of the environment, which has `n` bytes, has this value. */
static bool has_value(const char *environment, size_t n, const char *variable, const char *value)
{
    size_t n_variable = strlen(variable);
    for (const char *at = environment; at < environment + n; at += strlen(at) + 1)
        if (!strncmp(at, variable, n_variable) && at[n_variable] == '=')
            return !strcmp(at + n_variable + 1, value);
    return false;
}

/* True if the name is that path, or its last part. */
static bool is_path_named(const char *path, const char *name)
{
    return !strcmp(path, name) || !strcmp(pc_base_name(path), name);
}

/* True if Python runs a script or module of this name, with the path `exe`. */
static bool runs_script(int pid, const char *exe, const char *name)
{
    char link[64], folder[4096];
    bool is_module, named = false;
    size_t n;
    char *command = pct_watch_file(pct_watch_view(pid), "cmdline", &n);
    const char *script = command ? pc_script_find(exe, command, n, &is_module) : NULL;
    while (script && script[0] == '.' && script[1] == '/')
        script += 2;
    if (script)
        named = is_path_named(script, name);
    if (script && !named && !is_module && *script != '/') {
        struct pct_buf path = {0};
        snprintf(link, sizeof link, "/proc/%d/cwd", pct_watch_view(pid));
        ssize_t got = readlink(link, folder, sizeof folder - 1);
        folder[got > 0 ? got : 0] = '\0';
        pct_buf_format(&path, "%s/%s", folder, script);
        named = !strcmp(path.data, name);
        pct_buf_free(&path);
    }
    pct_free(command);
    return named;
}

/* True if the program of a process, or the script that it runs, has this name. */
static bool runs_named(int pid, const char *name)
{
    char path[4096];
    pct_watch_exe(pid, path, sizeof path);
    return is_path_named(path, name) || runs_script(pid, path, name);
}

static bool is_named(int pid, const char *name)
{
    if (runs_named(pid, name))
        return true;
    size_t n;
    char *environment = pct_watch_file(pct_watch_view(pid), "environ", &n);
    bool slurm = environment && has_value(environment, n, "SLURM_JOB_ID", name);
    pct_free(environment);
    return slurm;
}

size_t pct_watch_named(const char *name, int *pid)
{
    size_t n_all, n = 0;
    struct pct_descent *all = list_processes(&n_all);
    for (size_t i = 0; i < n_all; i++) {
        if (all[i].pid == getpid() || !runs_named(all[i].pid, name))
            continue;
        *pid = all[i].pid;
        n++;
    }
    pct_free(all);
    return n;
}

/* Finds jobs by name; NULL: all. */
static size_t find_jobs(const char *name, int **pids)
{
    struct claims c = {0};
    size_t n_all, n = 0, room = 0, kept = 0;
    struct pct_descent *all = list_processes(&n_all);
    *pids = NULL;
    for (size_t i = 0; i < n_all; i++)
        if (is_mine(all[i].pid))
            look_at(&c, all[i].pid, 0);
    for (size_t i = 0; i < c.n; i++) {
        int launcher = c.at[i].mpi ? pct_watch_launcher(c.at[i].who.pid) : 0;
        if (launcher <= 0 || (name && !is_named(c.at[i].who.pid, name)))
            continue;
        *pids = pct_grow(*pids, n, &room, sizeof **pids);
        (*pids)[n++] = launcher;
    }
    if (n)
        qsort(*pids, n, sizeof **pids, pc_compare_ints);
    for (size_t i = 0; i < n; i++)
        if (!kept || (*pids)[kept - 1] != (*pids)[i])
            (*pids)[kept++] = (*pids)[i];
    pct_free(c.at);
    pct_free(all);
    return kept;
}

size_t pct_watch_jobs(int **pids)
{
    return find_jobs(NULL, pids);
}

size_t pct_watch_jobs_named(const char *name, int **pids)
{
    char real[PATH_MAX];
    size_t n = find_jobs(name, pids);
    if (n || !strchr(name, '/') || !realpath(name, real))
        return n;
    pct_free(*pids);
    return find_jobs(real, pids);
}

static int compare_watched(const void *left, const void *right)
{
    const struct pct_watched *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

void pct_watch_sort(struct pct_watched_job *job)
{
    if (job->n)
        qsort(job->processes, job->n, sizeof *job->processes, compare_watched);
}

bool pct_watch_is_one_job(const struct pct_watched_job *job)
{
    uint64_t key = 0;
    for (size_t i = 0; i < job->n; i++) {
        uint64_t own = job->processes[i].key;
        if (own && key && own != key)
            return false;
        key = own ? own : key;
    }
    return true;
}

void pct_watch_job_free(struct pct_watched_job *job)
{
    pct_free(job->processes);
    pct_free(job->all);
    *job = (struct pct_watched_job){.world = -1};
}
