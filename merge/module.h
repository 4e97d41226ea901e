/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The merge as a module, pcollect-merge.so: libpcollect.so has no zlib, so it opens this with
 * RTLD_LOCAL | RTLD_NOW when MPI_Finalize is reached, and calls it through one table. Both
 * functions keep errno, print nothing, call malloc, and are not AS-safe.
 */
#ifndef PC_MERGE_MODULE_H
#define PC_MERGE_MODULE_H

#include "base/base.h"
#include "cct/cct.h"
#include "merge/board.h"
#include "merge/transport.h"

#define PC_MERGE_MODULE_ABI 4u
#define PC_MERGE_MODULE_FILE "pcollect-merge.so"
#define PC_MERGE_MODULE_SYMBOL "pc_merge_module"

/* Result of the merge for a rank. Must be zero-initialised. */
struct pc_merged {
    char path[PCOLLECT_PATH_BYTES]; /* path of the profile; empty: there is none */
    struct pc_error unwritten;      /* values that this rank could not add to it; or empty */
    struct pc_board board;
};

struct pc_merge_module {
    uint32_t abi; /* PC_MERGE_MODULE_ABI */
    uint32_t size;
    /* Collective. Merges the arena's main part over all ranks; rank 0 writes the file `out`
     * (expanded, valid there only, may be NULL elsewhere). The verdict is the same on all ranks
     * unless the transport itself fails. PC_OK: the file is in place, its path is in merged->path
     * on every rank, the arena may be unlinked unless more is to be added by `late`. Otherwise
     * nothing was written, and the text, the same on all ranks, gives reason and cure: arenas must
     * stay, and one rank should print it. PC_OK with a text: the file is in place, but damaged data
     * was left out. A rank that could not add the values that it had made ready says so in
     * merged->unwritten. */
    int (*job)(const struct pc_arena *arena, const struct pc_transport *transport, const char *out,
               struct pc_merged *merged, struct pc_error *error);
    /* Adds what this process did after the merge to the file that `job` named, or leaves that to
     * another rank of the node. ended: this is the end of the process, not that of MPI_Finalize.
     * Uses no transport and waits for no other rank; may run in all ranks at once. */
    int (*late)(const struct pc_arena *arena, const struct pc_merged *merged, bool ended,
                struct pc_error *error);
};

/* Message from rank 0 to the others at the end of `job`. */
struct pc_merge_verdict {
    int32_t err;
    char path[PCOLLECT_PATH_BYTES];
    char text[sizeof((struct pc_error *)0)->text];
};

/* Replaces `job` on a rank that cannot open the module, so that the others do not wait for ever.
 * Collective; the result is the same on all ranks: no profile. Needs no zlib, because it is linked
 * into libpcollect.so. */
int pc_merge_absent(const struct pc_transport *transport, struct pc_error *error);

#endif
