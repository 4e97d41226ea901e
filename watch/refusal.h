/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reasons why a process cannot be read from outside, and the cures (doc/permissions.md).
 */
#ifndef PCT_REFUSAL_H
#define PCT_REFUSAL_H

#include "base/base.h"

/* Sets the text for an errno of ptrace, process_vm_readv or a file of /proc/PID; 0: no stack was
 * found. Returns the error. MT-safe. */
int pct_refusal_explain(int pid, int error_number, struct pc_error *error);

/* Refuses a /proc whose numbers are those of another pid namespace than ours: they name other
 * processes. PC_OK, or PC_EIO with its text. MT-safe. */
int pct_refusal_foreign(struct pc_error *error);

/* Refuses a process if a filter of system calls, as a container's, forbids to copy stacks, or if
 * `stops`, to stop threads. PC_OK, or the error with its text. MT-safe. */
int pct_refusal_filtered(int pid, bool stops, struct pc_error *error);

#endif
