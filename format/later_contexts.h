/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Contexts and records that a profile has left in its file: where they are, what late parts add to
 * them, and a list of the records whose values may be asked for. contexts.c reads them.
 */
#ifndef PC_FORMAT_LATER_CONTEXTS_H
#define PC_FORMAT_LATER_CONTEXTS_H

#include "format/unpack.h"

struct pc_later_contexts {
    struct pc_stored nodes, data; /* with a descriptor of their own */
    uint32_t n_modules, n_ops;    /* of the file */
    uint32_t *modules, *ops;      /* by a number in the file, that of the profile */
    /* Late parts, with the numbers of the profile. */
    struct pc_profile_node *late;
    struct pc_profile_data *late_data;
    uint32_t n_late;
    /* Records whose values are in the file: of each, in p->data, its number in the file. */
    uint32_t *numbers;
    size_t n_room;
    bool nested; /* a call is inside another one */
    struct pc_error error;
};

struct pc_later_request {
    struct pc_stored nodes, data;    /* the sections, of one descriptor */
    const struct pc_profile *before; /* lists of the main part, without what late parts add */
    const uint32_t *steps;           /* numbers of the records with times in steps */
    uint32_t n_steps;
    bool with_values; /* exact values will be asked for */
};

/* Leaves contexts and records of p in the file, but those of late parts, which p has in memory.
 * Checks all of them, and lists those whose values are there. Takes the descriptor. PC_ENOMEM,
 * PC_EFORMAT; PC_ENOENT: late parts need values, or fields that the main part does not have. */
int pc_later_contexts_take(struct pc_profile *p, const struct pc_later_request *r,
                           struct pc_error *error);

/* The place of a number in a list in ascending order; PC_NO_INDEX: it is not there. */
static inline uint32_t pc_number_find(const uint32_t *numbers, uint32_t n, uint64_t number)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && numbers[low] == number ? low : PC_NO_INDEX;
}

/* Lists a record of p without its statistics, behind those with lesser numbers in the file. NULL:
 * no memory. */
struct pc_profile_data *pc_later_contexts_list(struct pc_profile *p, uint32_t number,
                                               const struct pc_profile_data *d);

/* The listed record with that number in the file, or NULL. */
struct pc_profile_data *pc_later_contexts_record(struct pc_profile *p, uint64_t number);

/* The reason why they could not be read, or NULL. */
const char *pc_later_contexts_error(const struct pc_later_contexts *later);

void pc_later_contexts_close(struct pc_profile *p);

#endif
