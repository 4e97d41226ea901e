/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Declarations that the files of pcollect doctor share. A check examines one thing and adds
 * findings; the printer does not know the checks.
 */
#ifndef PCT_DOCTOR_H
#define PCT_DOCTOR_H

#include "command/command.h"

enum pct_health {
    PCT_GOOD, /* works */
    PCT_LESS, /* works with a loss: `cost` names it, `cure` says how to avoid it */
    PCT_BAD   /* jobs are not measured, or their profiles are lost */
};

struct pct_finding {
    enum pct_health health;
    const char *about; /* short, lower case; several findings may have one */
    char *found;       /* allocated */
    const char *cost;  /* NULL if good */
    const char *cure;  /* NULL if there is none */
};

struct pct_examined {
    const struct pct_command *self;
    struct pc_config config;
    struct pct_finding *findings;
    size_t n, room;
};

/* `found` is allocated and becomes the doctor's; cost and cure are not copied. */
void pct_doctor_add(struct pct_examined *d, enum pct_health health, const char *about, char *found,
                    const char *cost, const char *cure);

/* Runs fn(arg) in a child whose standard output and error go to /dev/null, and returns what it
 * wrote to the descriptor that it gets; NULL if it died (in a library's constructor, for example).
 * Allocated. */
char *pct_doctor_apart(void (*fn)(int fd, const void *arg), const void *arg);

/* doctor_library.c */
void pct_doctor_library(struct pct_examined *d);
/* doctor_mpi.c */
void pct_doctor_mpi(struct pct_examined *d);
/* doctor_machine.c */
void pct_doctor_machine(struct pct_examined *d);
/* doctor_spool.c */
void pct_doctor_spool(struct pct_examined *d);

/* doctor_kill.c */
void pct_doctor_kill(struct pct_examined *d);

/* doctor_elf.c: the dynamic symbols of a shared object, by its file. */
struct pct_elf {
    void *map;
    size_t n_bytes;
    char **defined, **needed; /* names of exported and of imported functions */
    size_t n_defined, n_needed;
};
/* False if it is no shared object of this machine's kind. No input makes it crash. */
bool pct_elf_open(struct pct_elf *e, const char *path);
void pct_elf_close(struct pct_elf *e);

#endif
