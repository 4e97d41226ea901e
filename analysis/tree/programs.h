/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs that the ranks of a job run. In a job of several programs, the contexts of each
 * begin with a frame in its executable; its ranks are those of its record of most ranks, such as
 * that of MPI_Init. A rank runs one program: the ranks of all programs are known if they are as
 * many as those of the job.
 */
#ifndef PCT_PROGRAMS_H
#define PCT_PROGRAMS_H

#include "format/contexts.h"

struct pct_program {
    const char *path;
    uint32_t module; /* PC_NO_INDEX: there is only this program */
    int32_t *ranks;  /* ascending */
    uint32_t n_ranks;
};

struct pct_programs {
    struct pct_program *list; /* in the order of first ranks if these are known, else by path */
    uint32_t n;               /* 0: the job was sampled from outside */
    bool known;               /* the ranks of all */
    struct pct_program *in;   /* while contexts are read: that of the last one, or NULL */
    uint32_t level;           /* where `in` begins */
};

/* Begins with the programs of the modules. Then pct_programs_take is called for each context in
 * their order, and pct_programs_end after the last. */
void pct_programs_begin(struct pct_programs *out, const struct pc_profile *p);
void pct_programs_take(struct pct_programs *programs, const struct pc_contexts *c);
void pct_programs_end(struct pct_programs *programs, const struct pc_profile *p);
void pct_programs_free(struct pct_programs *programs);

#endif
