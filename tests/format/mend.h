/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repairs checksums of damaged files, so that readers do not stop at them.
 */
#ifndef MEND_H
#define MEND_H

#include <stddef.h>
#include <stdint.h>

/* Makes all checksums of a .pcol file right, as far as they can be found by the lengths. */
void mend_checksums(uint8_t *data, size_t n);

#endif
