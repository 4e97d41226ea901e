/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks of the threads of running processes, taken from outside.
 *
 * Nothing is loaded into a watched process. A thread that is blocked in a system call is not
 * stopped: the kernel reports its stack pointer, and its stack is copied. A thread that runs is
 * stopped for as long as it takes to read its registers and Python's frames, and to copy its stack.
 *
 * The stacks become a profile in which each stack is a rank of its own, number i that of stacks[i],
 * with one sample of 1 ns. So contexts are merged, named and shown like those of any profile.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_WATCH_H
#define PCT_WATCH_H

#include "base/launchers.h"
#include "config/config.h"
#include "format/bytes.h"
#include "format/profile.h"
#include "watch/code_frames.h"
#include "watch/comm_members.h"
#include "watch/mpi_call.h"
#include "watch/python_frames.h"
#include "watch/stack_tree.h"

/* ---- Processes (watched_processes.c) --------------------------------------------------------- */

struct pct_watched {
    int pid;
    int rank;     /* in MPI_COMM_WORLD, or -1 */
    uint64_t key; /* of the job of a rank (struct pc_config_launch); 0: unknown */
    bool ended;   /* when its stacks were to be taken, as far as it was noticed */
};

struct pct_watched_job {
    struct pct_watched *processes; /* by rank, then by pid */
    size_t n, room;
    int world;               /* ranks of the job, on all nodes; -1: unknown */
    bool whole;              /* all ranks of this node are here */
    struct pct_descent *all; /* the processes of this node, listed once; NULL: not yet */
    size_t n_all;
};

/* Adds a process; for a launcher, or a script that starts one, the ranks that it started on this
 * node before these are first listed for this job. PC_ENOENT: there is no such process. */
int pct_watch_add(struct pct_watched_job *job, int pid, struct pc_error *error);
/* Adds a running process itself, whatever it started. */
void pct_watch_add_itself(struct pct_watched_job *job, int pid);
/* True for the path of an MPI library: libmpi.so.40, libmpich.so.12, libmpi_cray.so. */
static inline bool pct_watch_is_mpi(const char *path)
{
    return strncmp(pc_base_name(path), "libmpi", 6) == 0;
}
/* Bytes of the name that the kernel keeps of a process, with the 0 behind it. */
enum { PCT_COMM_BYTES = 16 };
/* That name: of the file that it executed, which may be a link or a script, unless it has chosen
 * another one; "": there is no such process. */
void pct_watch_comm(int pid, char comm[PCT_COMM_BYTES]);
/* The role of a running process by its name. */
enum pc_launcher_role pct_watch_role(int pid);
/* Adds the ranks on this node of the job with this key (struct pc_config_launch). */
void pct_watch_add_keyed(struct pct_watched_job *job, uint64_t key);
void pct_watch_sort(struct pct_watched_job *job);
/* False: some are ranks of different jobs, which have the same numbers. */
bool pct_watch_is_one_job(const struct pct_watched_job *job);

/* True if one of these processes has children. */
bool pct_watch_have_children(const int *pids, size_t n);
/* True if one of these processes or threads has not ended. */
bool pct_watch_lives(const int *ids, size_t n);

/* The threads that a process has, the main one first; NULL: none. To be freed with pct_free. */
int *pct_watch_threads(int pid, size_t *n);

/* Gives threads counters, which the threads inherit that they start afterwards. */
struct pct_thread_opener {
    int (*begin)(void *arg); /* closes what this opener has opened before */
    int (*open)(void *arg, int tid);
    void *arg;
};
/* Opens each thread of the processes. One that is started meanwhile may be missing, or have two
 * counters: then all begins again, up to 20 times; *all: none is missing. Returns the first result
 * of the opener that is not 0. */
int pct_watch_open_threads(const int *pids, size_t n, const struct pct_thread_opener *o, bool *all);

/* The number by which /proc shows memory and files of a process: if its main thread has ended, that
 * of another thread. */
int pct_watch_view(int pid);

/* Bytes of a path, as the kernel shows it, without its word for a removed file. A file may have a
 * name that ends so. */
size_t pct_watch_path_bytes(const char *path);

/* The path of a process's program, cut to n bytes; "": it is not known. The file may have been
 * removed or replaced. */
void pct_watch_exe(int pid, char *path, size_t n);

/* A number that tells the program that a process runs from that before its exec: of its auxiliary
 * vector, which has random addresses; 0: unknown. */
uint64_t pct_watch_program(int pid);

/* A whole file of /proc/PID, to be freed with pct_free, with a 0 behind its *n bytes; NULL: it
 * cannot be read; errno says why. */
char *pct_watch_file(int pid, const char *name, size_t *n);

/* Data from the launcher's variables in the environment of a process. */
struct pc_config_launch pct_watch_launch(int pid);

/* The processors that are online, ascending; NULL: unknown. To be freed with pct_free. */
int *pct_watch_processors(size_t *n);
/* CPU time that processors have used since the boot, in ns, in the ticks of /proc/stat: each[i] is
 * that of cpus[i]. Returns that of all processors. UINT64_MAX: unknown. */
uint64_t pct_watch_used_ns(const int *cpus, size_t n, uint64_t *each);

/* The process that launched a rank here; if that has died, the rank itself; 0: it is not known, as
 * of a rank that has ended. */
int pct_watch_launcher(int pid);

/* The MPI jobs of this user (for root: of all users) on this node: for each the process that
 * launched its ranks here, or, if that has died, each of the ranks; sorted. The caller frees *pids
 * with pct_free. Returns their number. */
size_t pct_watch_jobs(int **pids);
/* Those of them with a name: the number of a Slurm job, or the program of a rank or the
 * script that it runs in Python, with its folder or without. */
size_t pct_watch_jobs_named(const char *name, int **pids);
/* Number of processes, ranks or not, of which program or script have this name; *pid: one of them.
 */
size_t pct_watch_named(const char *name, int *pid);
void pct_watch_job_free(struct pct_watched_job *job);

/* ---- Stacks (thread_stacks.c) ---------------------------------------------------------------- */

struct pct_watched_stack {
    uint32_t process; /* index into job->processes */
    int tid;
    char state;   /* as in ps: R, S, D, T */
    bool program; /* a frame is the program's */
    char op[64];  /* the MPI function that it is in, or "" */
    struct pct_mpi_call call;
    uint64_t call_ns; /* time in the call so far, of a stack that another node sent; else 0 */
};

struct pct_watch {
    const struct pct_watched_job *job;
    bool all_threads;       /* also threads without a frame of the program */
    bool calls;             /* also read requests and communicators, of ranks under libpcollect */
    struct pc_buffer *sent; /* stacks are written there instead of sum (node_stacks.h); or NULL */
    struct pct_watched_stack *stacks;
    size_t n_stacks, room;
    struct pct_comm_places comms; /* of ranks under libpcollect */
    char *mpi_folder; /* of the MPI library of the process that was taken last; NULL: unknown */
    uint32_t n_other; /* threads at a time that are not in stacks: no frame is of the program */
    uint32_t n_lost;  /* threads whose stack could not be read */
    struct pct_code_frames frames; /* whose places the profile's symbols need */
    struct pc_profile_sum sum;
};

/* Takes the stacks of all threads of one process, once. PC_ENOENT: it has ended, and stacks of some
 * threads or all are missing; PC_EIO: it cannot be read, and why. */
int pct_watch_take(struct pct_watch *w, uint32_t process, struct pc_error *error);

/* The stacks as a profile, which the caller frees; NULL: there are none. Ends w. */
int pct_watch_profile(struct pct_watch *w, struct pc_profile **out, struct pc_error *error);

/* Looks up the places of w->frames.named that are in files, on the node of the processes. */
void pct_watch_look_up(struct pct_watch *w);

void pct_watch_free(struct pct_watch *w);

#endif
