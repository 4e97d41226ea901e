/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the arena's tests share: a spool of their own, processes that must end well.
 */
#ifndef TESTS_CCT_PLACE_H
#define TESTS_CCT_PLACE_H

#include "cct/cct_private.h"
#include "tests/cct/arena_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

struct place {
    char spool[64];   /* a new folder in /dev/shm */
    char folder[128]; /* which the arena makes in it */
};

/* Setup and teardown; *state is NULL where /dev/shm is no tmpfs. */
int place_make(void **state);
int place_remove(void **state);

/* The two ways in which an arena may grow; both must behave alike. */
typedef int (*open_fn)(struct pc_arena *a, const char *spool, size_t bytes, struct pc_error *error);
extern const open_fn place_ways[2];

/* pc_arena_open where the kernel does not know MADV_POPULATE_WRITE: the second of these ways. */
int place_open_on_old_kernel(struct pc_arena *a, const char *spool, size_t bytes,
                             struct pc_error *error);

/* Runs fn in a child, which ends well if it returns and no CHECK in it failed. */
void in_child(void (*fn)(struct place *place, open_fn open_it), struct place *place,
              open_fn open_it);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define SKIP_IF(x, why)                                                                            \
    do {                                                                                           \
        if (x) {                                                                                   \
            fprintf(stderr, "%s: skipped: %s\n", __func__, why);                                   \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* Takes all there is in pieces and writes into each; the number of pieces. */
unsigned place_fill(struct pc_arena *a, size_t piece);

/* NULL, or what is wrong with the mapping, or with the file as read(2) sees it. */
const char *place_wrong(struct pc_arena *a);
const char *place_wrong_file(const char *path);

/* A tmpfs of that size (or another file system) over the spool, in a mount namespace of this
 * process alone. */
bool place_mount(struct place *place, const char *type, const char *options);

/* True if that is allowed here: root in a container often may not mount. */
bool place_may_mount(struct place *place);

/* Free bytes of the file system. */
uint64_t place_free_bytes(const char *path);

#endif
