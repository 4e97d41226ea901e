/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a filter of system calls would answer to this library.
 */
#ifndef PC_SECCOMP_ANSWER_H
#define PC_SECCOMP_ANSWER_H

#include <linux/filter.h>
#include <stdbool.h>

/* True if the filter ends the process, or stops it for another, for a call that the library makes
 * from now on: to grow its arena, to write the profile; with `more` also those by which counters
 * are read and the MPI sends what ranks tell each other. A filter that is not understood counts as
 * one that does. Nothing is written, no system call is made. AS-safe, MT-safe. */
bool pc_filter_ends(const struct sock_fprog *program, bool more);

#endif
