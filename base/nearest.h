/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the words that the user may have meant by a mistyped one. AS-safe.
 */
#ifndef PC_NEAREST_H
#define PC_NEAREST_H

#include "base/base.h"

/* Number of insertions, deletions, changes and swaps of neighbours that turn a into b; at most
 * PC_FAR, which is the result for words longer than 63 bytes. */
#define PC_FAR 64u
unsigned pc_distance(const char *a, const char *b);

/* True if a word at that distance is worth being suggested for one of `length` bytes. */
bool pc_is_near(unsigned distance, size_t length);

/* Collects the words that are nearest to a wanted one, from many that are passed one after the
 * other. Case is ignored. The part of a word up to the last "::" is ignored if the wanted word has
 * no "::". */
enum { PC_N_NEAREST = 3, PC_NEAREST_BYTES = 64 };
struct pc_nearest {
    const char *wanted;
    unsigned distances[PC_N_NEAREST]; /* distances of the words, ascending */
    unsigned n;
    char words[PC_N_NEAREST][PC_NEAREST_BYTES];
};
void pc_nearest_add(struct pc_nearest *n, const char *word);
/* "A, B or C" of those worth being suggested, or nothing; terminated. Returns its length. */
size_t pc_nearest_text(const struct pc_nearest *n, char *out, size_t bytes);

/* "A, B and C" of n words; terminated. Returns its length. */
size_t pc_words_text(const char *const *words, size_t n, char *out, size_t bytes);

#endif
