/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of the kernel's own page of code, the vdso, from which programs read clocks. It is in
 * no file. The page of this process is that of all which run on this kernel: it has a build-id and
 * a table of symbols. MT-safe.
 */
#ifndef PCT_VDSO_H
#define PCT_VDSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of its module. */
#define PCT_VDSO "[vdso]"

/* True if the page of this process has this build-id, of n bytes. */
bool pct_vdso_is(const uint8_t *id, size_t n);

/* The function of this process's page that contains an offset; NULL: none is known. The name stays.
 */
const char *pct_vdso_function(uint64_t offset);

#endif
