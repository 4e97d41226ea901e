/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the words that the user may have meant by a mistyped one. AS-safe.
 */
#ifndef PC_NEAREST_H
#define PC_NEAREST_H

#include "base/base.h"

/* Number of insertions, deletions, changes and swaps of neighbours that make b of a; at most
 * PC_FAR, which words longer than 63 bytes always are. */
#define PC_FAR 64u
unsigned pc_distance(const char *a, const char *b);

/* True if a word at that distance is worth being suggested for one of `length` bytes. */
bool pc_is_near(unsigned distance, size_t length);

/* The words that are nearest to a wanted one, of many that are shown one after the other. Large and
 * small letters are alike, and what stands before the last "::" of a word counts for nothing where
 * the wanted one has no "::". */
enum { PC_N_NEAREST = 3, PC_NEAREST_BYTES = 64 };
struct pc_nearest {
    const char *wanted;
    unsigned distances[PC_N_NEAREST]; /* of the words that are there, rising */
    unsigned n;
    char words[PC_N_NEAREST][PC_NEAREST_BYTES];
};
void pc_nearest_add(struct pc_nearest *n, const char *word);
/* "A, B or C" of those worth being suggested, or nothing; terminated. Returns its length. */
size_t pc_nearest_text(const struct pc_nearest *n, char *out, size_t bytes);

/* "A, B and C" of n words; terminated. Returns its length. */
size_t pc_words_text(const char *const *words, size_t n, char *out, size_t bytes);

#endif
