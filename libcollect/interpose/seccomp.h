/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters of system calls that the program installs by syscall(2) (bare_calls.c).
 */
#ifndef PC_SECCOMP_H
#define PC_SECCOMP_H

/* Must be called before the system call, with its arguments: `prctl` has five, `seccomp` three.
 * Sampling ends if a filter is to be installed, and collection if it would end the process.
 * MT-safe. */
void pc_before_prctl(const unsigned long *arguments);
void pc_before_seccomp(const unsigned long *arguments);

#endif
