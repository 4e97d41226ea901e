/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that calls the program back when it is torn down.
 */
#include <stddef.h>

extern void (*at_library_end)(void);
void (*at_library_end)(void);

__attribute__((destructor)) static void end(void)
{
    if (at_library_end)
        at_library_end();
}
