/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two libraries of the same layout are built from this source, with -DNAME=first and -DNAME=other.
 */
#include "tests/mpi/paths.h"

__attribute__((visibility("default"))) void plug(void);

TRUTH_FUNCTION static void NAME(void)
{
    ENTER;
    TOUCH;
    LEAVE;
}

void plug(void)
{
    ENTER;
    TOUCH;
    DO(NAME());
    LEAVE;
}
