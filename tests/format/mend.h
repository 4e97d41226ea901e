/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Damage that reaches behind the checksums.
 */
#ifndef MEND_H
#define MEND_H

#include <stddef.h>
#include <stdint.h>

/* Makes all checksums of a .pcol file right, as far as the lengths still lead to them. */
void mend_checksums(uint8_t *data, size_t n);

#endif
