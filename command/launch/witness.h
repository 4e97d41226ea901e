/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A witness of signals to the process group. A job is in the process group of the command that runs
 * it. Who signals the group, as `timeout` and batch systems do, reaches both; who signals the
 * command wants the job. The kernel does not tell the two apart, but another process of the group
 * has only signals of the first kind.
 */
#ifndef PCT_WITNESS_H
#define PCT_WITNESS_H

#include <stdbool.h>

/* Starts the witness, with all signals blocked in this thread. It ends with this process. Without
 * memory or processes there is none. */
void pct_witness_start(void);
void pct_witness_end(void);

/* True if the witness has had the signal that this process has just had. AS-safe. */
bool pct_witness_saw(int number);

#endif
