/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages on their way between the ranks of explorer.c, the oldest first.
 */
#ifndef TESTS_MERGE_LETTERS_H
#define TESTS_MERGE_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct letter {
    struct letter *next;
    int from, to;
    bool is_broadcast;
    uint64_t at_ms; /* when it can be taken */
    size_t n;
    char data[];
};

/* Appends a copy of the data, with sender and receiver. */
void letters_post(struct letter **list, const struct letter *l, const void *data);
/* Position of the first such letter; there is none if that is NULL. */
struct letter **letters_find(struct letter **list, int from, int to, bool is_broadcast);
/* Removes a letter; n bytes of it go to `data`. */
void letters_receive(struct letter **at, void *data, size_t n);

#endif
