/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters of quiet_tool.c, which quiet.c reads.
 */
#ifndef TESTS_SAFETY_QUIET_H
#define TESTS_SAFETY_QUIET_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <pthread.h>

/* Needs no memory at the first use in a thread, since malloc counts there. */
#define QUIET_OF_THREAD __thread __attribute__((tls_model("initial-exec")))
extern QUIET_OF_THREAD unsigned long n_allocations, n_locks;
/* While this is set, calls of MPI do nothing. */
extern _Atomic int quiet_fake;

#endif
