/* SPDX-License-Identifier: BSD-3-Clause
 *
 * AddressSanitizer ends a program whose first library is not its runtime, because a library in
 * front could hide its functions. What this library replaces it passes on to the next definition,
 * so the order is right: the runtime is told not to look at it. It asks for its options in this way
 * before anything else; those in ASAN_OPTIONS have priority. A program that answers the question
 * itself has to add the option (gcc 12, clang 14; clang's static runtime looks at no order).
 *
 * May run before this library is relocated or initialised. Must not: refer to anything.
 */
#include "base/base.h"

const char *__asan_default_options(void);

PC_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
