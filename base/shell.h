/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words as a shell takes them.
 */
#ifndef PC_SHELL_H
#define PC_SHELL_H

#include <stdbool.h>
#include <string.h>

/* True if a shell takes the word as it is, without quotes. AS-safe, MT-safe. */
static inline bool pc_shell_is_plain(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_./:=,+@%^-";
    return *word && !word[strspn(word, plain)];
}

#endif
