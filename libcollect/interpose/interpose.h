/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the library calls itself of the functions that it interposes: the next definitions.
 */
#ifndef PC_INTERPOSE_H
#define PC_INTERPOSE_H

#include <signal.h>

/* The next definition of a function after libpcollect.so, or NULL; found once, kept in *slot. May
 * be called by many threads. Keeps errno. Not AS-safe at its first call. */
void *pc_next(const char *name, void *_Atomic *slot);

/* The real sigaction. */
int pc_next_sigaction(int signal, const struct sigaction *action, struct sigaction *old_out);

#endif
