/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of the programs that start MPI jobs, of those that start their ranks on a node, and of
 * shells.
 */
#ifndef PC_LAUNCHERS_H
#define PC_LAUNCHERS_H

#include "base/base.h"

enum pc_launcher_role {
    PC_LAUNCHER_NONE,
    PC_LAUNCHER_STARTS, /* starts a job: mpirun */
    PC_LAUNCHER_HELPER, /* belongs to one launcher: the parent of its ranks on a node */
    PC_LAUNCHER_DAEMON  /* parent of ranks, too, but no child of the launcher */
};

/* The role of a program by its name without a folder. mpirun.mpich and mpiexec-openmpi-gcc are
 * launchers; mpirun_job.sh, which may be a whole job, is none. AS-safe, MT-safe. */
enum pc_launcher_role pc_launcher_role(const char *name);

/* The name of the i-th launcher, without endings; NULL: there are no more. AS-safe, MT-safe. */
const char *pc_launcher_name(size_t i);

/* True for the name, without a folder, of a shell that runs commands. AS-safe, MT-safe. */
bool pc_is_shell(const char *name);

#endif
