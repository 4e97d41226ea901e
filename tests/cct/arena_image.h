/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A reader of arena images for tests: it knows include/pcollect/arena.h and nothing of cct/. It
 * follows every reference from the header and says what is wrong with the first that is not whole.
 */
#ifndef TESTS_CCT_ARENA_IMAGE_H
#define TESTS_CCT_ARENA_IMAGE_H

#include "include/pcollect/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct image {
    const char *base;
    const struct pcollect_arena_header *header;
    uint64_t used;
    uint16_t *owner; /* by line of 64 bytes: 1 + number of the thread that has objects in it */
    uint8_t *taken;  /* by unit of 16 bytes */
    unsigned n_threads, n_modules, n_plugins, n_ops_named;
    unsigned n_frames, n_op_nodes, n_collapsed, n_cut;
    unsigned n_tables, n_rows, n_strings;
    char wrong[256]; /* empty: nothing */
    void (*visit)(struct image *image, const struct pcollect_thread *thread,
                  const struct pcollect_node *node, void *arg);
    void (*visit_row)(struct image *image, const struct pcollect_thread *thread,
                      const struct pcollect_row *row, void *arg); /* may be NULL */
    void *arg;
};

/* Walks an image of n bytes; visit and arg must be set (visit may be NULL). False: see wrong. */
bool image_walk(struct image *image, const void *base, size_t n);

/* The object at a reference, of which the walk has shown that it is whole. */
static inline const void *image_at(const struct image *image, pcollect_ref ref)
{
    return image->base + (size_t)ref * PCOLLECT_REF_UNIT;
}

#endif
