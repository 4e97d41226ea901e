/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process that collects in plain memory tells the other processes of its user on this node which
 * rank of which launcher it is. Makes system calls; keeps nothing open; init-only.
 */
#ifndef PC_NAMEPLATE_H
#define PC_NAMEPLATE_H

#include <stdint.h>

/* States of a rank that a nameplate can announce. */
enum pc_plate {
    PC_PLATE_RANK, /* the rank is measured */
    PC_PLATE_LEFT  /* it was measured, and takes no part in the end of the job */
};

/* Makes a nameplate, unless there is one already. If the kernel refuses it, other ranks do not see
 * this rank. */
void pc_nameplate_hang(enum pc_plate what, uint64_t launch_key, int rank);
void pc_nameplate_take_down(void);

/* Calls see for each nameplate of this launcher. Reads the maps of all processes of the user. */
void pc_nameplate_look(uint64_t launch_key, void (*see)(void *arg, enum pc_plate what, int rank),
                       void *arg);

#endif
