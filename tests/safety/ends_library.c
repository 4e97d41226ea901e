/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library whose destructor calls the program back.
 */
#include <stddef.h>
#include <stdlib.h>

int MPI_Initialized(int *flag) __attribute__((weak));

/* Runs before the program's main, and perhaps before any other library's. */
__attribute__((constructor)) static void begin(void)
{
    int flag;
    if (getenv("ENDS_EARLY"))
        MPI_Initialized(&flag);
}

extern void (*at_library_end)(void);
void (*at_library_end)(void);

__attribute__((destructor)) static void end(void)
{
    if (at_library_end)
        at_library_end();
}
