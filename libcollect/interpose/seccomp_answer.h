/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a filter of system calls would answer to this library.
 */
#ifndef PC_SECCOMP_ANSWER_H
#define PC_SECCOMP_ANSWER_H

#include <linux/filter.h>
#include <stdbool.h>

/* True if the filter ends the process, or stops it for a tracer or supervisor, for a call that the
 * library makes from now on: to grow its arena or to write the profile; with `more` also to read
 * counters, or in the MPI when ranks exchange data. A filter that is not understood counts as one
 * that does. Writes nothing and makes no system call. AS-safe, MT-safe. */
bool pc_filter_ends(const struct sock_fprog *program, bool more);

#endif
