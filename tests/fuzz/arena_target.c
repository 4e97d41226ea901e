/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of an arena that a process has left.
 */
#include "tests/fuzz/fuzz.h"

#include "tests/merge/made_arena.h"

#include <string.h>

const enum fuzz_kind fuzz_kind = FUZZ_ARENA;

static void read_arena(const struct guarded *g, enum pc_merge_part part)
{
    struct pc_profile *p = NULL, *q = NULL;
    struct pc_error error = {0};
    uint8_t *bytes;
    size_t n;
    if (pc_merge_arena(g->data, g->n, part, &p, &error)) {
        FUZZ_REQUIRE(!p && error.text[0], "refused without a reason, or with a result");
        return;
    }
    FUZZ_REQUIRE(!pc_profile_check(p, &error), "read, and not valid: %s", error.text);
    FUZZ_REQUIRE(!pc_profile_encode(p, &bytes, &n), "does not encode");
    FUZZ_REQUIRE(!pc_profile_decode(bytes, n, &q, &error), "own bytes refused: %s", error.text);
    free(bytes);
    pc_profile_free(p);
    pc_profile_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct guarded g;
    if (n < 16)
        return 0;
    guarded_copy(&g, data, n);
    for (int part = PC_MERGE_MAIN; part <= PC_MERGE_ALL; part++)
        read_arena(&g, (enum pc_merge_part)part);
    guarded_free(&g);
    return 0;
}
