/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names from a jitdump file, jit-PID.dump: a head, and a record for each function that a compiler
 * has made, with address, length, name and code (Linux, tools/perf/Documentation/
 * jitdump-specification.txt). Perf's agent for Java writes it. Records of moved code are
 * left out: it writes none.
 *
 * Such a file may be anything: a record that is not whole is not passed on, and nothing behind a
 * record that cannot be right. AS-unsafe, MT-safe.
 */
#ifndef PCT_JIT_DUMP_H
#define PCT_JIT_DUMP_H

#include <stdbool.h>
#include <stdint.h>

enum { PCT_JIT_NAME_BYTES = 1024 }; /* longer names are cut */

/* True if a mapped file has the name of such a file. */
bool pct_jit_dump_is(const char *path);

typedef void (*pct_jit_code_fn)(void *arg, uint64_t address, uint64_t bytes, const char *name);

/* Passes on the records from `from` on, 0 at first, up to the size of the file, 65,536 at most.
 * Returns where the next ones begin; UINT64_MAX: there will be none. */
uint64_t pct_jit_dump_read(int fd, uint64_t from, uint64_t size, pct_jit_code_fn add, void *arg);

#endif
