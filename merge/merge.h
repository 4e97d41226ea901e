/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes one profile from arenas: in the job over a transport, after it from files. The sum of two
 * profiles is in format/ (pc_profile_merge). doc/internals/merge.md has the rules.
 */
#ifndef PC_MERGE_H
#define PC_MERGE_H

#include "base/base.h"
#include "cct/cct.h"
#include "format/profile.h"
#include "merge/transport.h"

/* Trees of an arena that are taken. */
enum pc_merge_part {
    PC_MERGE_MAIN, /* collected before the merge */
    PC_MERGE_LATE, /* collected after it (struct pcollect_thread.late); only the strings that are
                    * needed, but all figures of the rank, totals included */
    PC_MERGE_ALL   /* both: for recovery */
};

/* Makes the profile of one rank from its arena: unifies threads, converts ticks. `base` is a
 * mapping of `n` readable bytes that may come from a file or be written to meanwhile: every
 * reference is checked; damaged parts are left out, and the text says so (result PC_OK with a text;
 * otherwise the text is empty). A header that is not one is PC_EFORMAT, one of a newer layout
 * PC_EVERSION. A process that is no MPI rank becomes rank 0 of 1. */
int pc_merge_arena(const void *base, size_t n, enum pc_merge_part part, struct pc_profile **out,
                   struct pc_error *error);

/* Lets malloc use freed memory again in the functions that follow. Otherwise it gives blocks of 128
 * KiB and more back to the kernel, which clears each page of the next block anew. glibc 2.36 takes
 * memory from its heap up to the size of the largest block that was freed; this one is not
 * touched. */
void pc_merge_keep_memory(void);

/* Part of the result of pc_merge_reduce that a rank writes to the file. */
struct pc_reduced {
    struct pc_profile *sum; /* on rank 0, for writing (pc_profile_decode_packed); elsewhere NULL */
    uint8_t *share;         /* for pc_pcol_write_share, when the file is there; freed with free() */
    size_t share_bytes;     /* 0: none */
    int32_t last_rank;      /* of the share, whose first one is this rank */
};

/* Collective: reduces the profiles of all ranks along the tree of the transport (route.h). Takes
 * ownership of mine. mine may be NULL (this rank could not make its own): all ranks still meet. If
 * a rank is missing from the result, rank 0 gets PC_EMISMATCH and no result; the other ranks learn
 * this only from rank 0's later message. */
int pc_merge_reduce(const struct pc_transport *t, struct pc_profile *mine, struct pc_reduced *out,
                    struct pc_error *error);

/* ---- Recovery ------------------------------------------------------------------------------- */

typedef void (*pc_merge_say_fn)(void *arg, const char *line);

/* Merges arena files of one job and reports on each that is left out (say may be NULL): damaged, of
 * another user, of another job than the first, of a rank that was added already. Damaged parts of
 * an arena are left out and reported. *out is for writing (pc_profile_decode_packed). PC_ENOENT: no
 * file could be used. PC_ENOMEM: no result. */
int pc_merge_files(char *const *paths, size_t n, struct pc_profile **out, pc_merge_say_fn say,
                   void *arg, struct pc_error *error);

/* ---- Checkpoints: profiles of jobs that run -------------------------------------------------- */

/* The arena of a process that may be writing to it, as it was at one instant. */
struct pc_merge_copy {
    char path[PCOLLECT_PATH_BYTES];
    void *data; /* to be freed with free() */
    size_t n;
    uint64_t taken_ns; /* since 1970: events before it are in the copy */
};

/* Takes a copy of an arena without any effect on its owner. `runs`: its owner does, so that its
 * times go to this moment, not to the last one that it has noted. Errors: the file is gone
 * (PC_ENOENT) or cannot be read, or no memory (PC_ENOMEM); the text says which. */
int pc_merge_copy(const char *path, bool runs, struct pc_merge_copy *out, struct pc_error *error);

/* Merges copies of one job like pc_merge_files, into a profile that is marked as a checkpoint: its
 * ranks are incomplete, and the table PC_TABLE_CHECKPOINT has the time of each copy. */
int pc_merge_copies(const struct pc_merge_copy *copies, size_t n, struct pc_profile **out,
                    struct pc_error *error);

/* ---- Arenas of a folder ---------------------------------------------------------------------- */

/* An arena file, by its header. */
struct pc_merge_found {
    char path[PCOLLECT_PATH_BYTES];
    uint64_t run_key, job_key;
    int32_t pid, rank, n_ranks;
    uint32_t state;         /* enum pcollect_arena_state */
    uint64_t realtime_0_ns; /* when the process started to collect, since 1970 */
    bool alive;             /* the process that wrote it still runs on this machine */
    bool initialised;       /* MPI_Init returned in it */
    bool asked_only;        /* it called MPI functions, but never MPI_Init */
    bool alone;             /* it was collected with or without MPI, and never called MPI_Init */
    uint32_t job;           /* number of its group, from 0 */
    char host[PCOLLECT_HOST_BYTES];
    char exe[PCOLLECT_PATH_BYTES];
    char out[PCOLLECT_PATH_BYTES];
    char job_id[64];
};

struct pc_merge_list {
    struct pc_merge_found *found;
    size_t n, n_jobs;
};

/* The arenas in a folder: PC_ENOENT, PC_EIO if it cannot be read. Those of one job_key and size are
 * one group; a process without job_key (it never came through MPI_Init, and no launcher said what
 * it is) is a group of its own. Sorted by group, then rank; groups by the time of their first
 * process. Damaged files are reported by `say` (may be NULL); files that are not arenas are
 * skipped. May be called for several folders: adds to *list, which starts zero-initialised. */
int pc_merge_list_add(struct pc_merge_list *list, const char *folder, pc_merge_say_fn say,
                      void *arg, struct pc_error *error);
void pc_merge_list_free(struct pc_merge_list *list);

#endif
