/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module pcollect-merge.so: what libpcollect.so calls at MPI_Finalize and at the process's end.
 */
#include "merge/module.h"

#include "merge/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int own_profile(const struct pc_arena *arena, enum pc_merge_part part,
                       struct pc_profile **out, struct pc_error *error)
{
    return pc_merge_arena(arena->base, arena->map_bytes, part, out, error);
}

/* Runs on rank 0: writes the sum, if there is one, and fills in the verdict. `own`: rank 0's error
 * or remark about its own arena. */
static void conclude(struct pc_profile *all, int err, const char *out, const struct pc_error *own,
                     struct pc_error *error, struct pc_merge_verdict *v)
{
    if (!err && (!out || !*out))
        err = pc_error_set(error, PC_EARG, "there is no path for the profile");
    else if (!err)
        err = pc_pcol_write_new(all, out, PC_PCOL_LATE_SLOTS, v->path, error);
    const char *more = err && own->text[0] ? "; rank 0: " : "";
    v->err = err;
    struct pc_error both;
    pc_error_set(&both, err, "%s%s%s", err ? error->text : "", more, own->text);
    memcpy(v->text, both.text, sizeof v->text);
    pc_profile_free(all);
}

/* Writes the share of the values that this rank has made. A failure is no one else's matter: the
 * profile is whole without it. */
static void write_share(const struct pc_arena *arena, const struct pc_transport *t,
                        const struct pc_reduced *r, struct pc_merged *merged)
{
    const struct pc_share_target to = {.path = merged->path,
                                       .job_key = arena->header->job_key,
                                       .world_size = (uint32_t)t->n_ranks,
                                       .first_rank = t->rank,
                                       .last_rank = r->last_rank};
    pc_pcol_write_share(&to, r->share, r->share_bytes, &merged->unwritten);
}

static int merge_job(const struct pc_arena *arena, const struct pc_transport *transport,
                     const char *out, struct pc_merged *merged, struct pc_error *error)
{
    struct pc_profile *mine = NULL;
    struct pc_reduced reduced;
    struct pc_merge_verdict v = {0};
    struct pc_error own = {""};
    int saved = errno;
    pc_board_join(&merged->board, arena);
    pc_merge_keep_memory();
    own_profile(arena, PC_MERGE_MAIN, &mine, &own);
    int err = pc_merge_reduce(transport, mine, &reduced, error);
    if (transport->rank == 0)
        conclude(reduced.sum, err, out, &own, error, &v);
    int sent = transport->broadcast(transport->self, &v, sizeof v, 0);
    pc_board_close(arena);
    v.path[sizeof v.path - 1] = v.text[sizeof v.text - 1] = '\0';
    if (!sent)
        memcpy(merged->path, v.path, sizeof v.path);
    if (!sent && !v.err && reduced.share_bytes)
        write_share(arena, transport, &reduced, merged);
    free(reduced.share);
    errno = saved;
    if (sent)
        return pc_error_set(error, sent, "rank 0 does not say whether the profile was written");
    return pc_error_set(error, v.err, "%s", v.text);
}

static int merge_late(const struct pc_arena *arena, const struct pc_merged *merged, bool ended,
                      struct pc_error *error)
{
    struct pc_profile *late = NULL;
    int saved = errno;
    int err = own_profile(arena, PC_MERGE_LATE, &late, error);
    if (!err)
        err = pc_board_leave(&merged->board, ended ? PC_BOARD_ENDED : PC_BOARD_FINALIZED,
                             merged->path, late, error);
    pc_profile_free(late);
    errno = saved;
    return err;
}

extern const struct pc_merge_module pc_merge_module;

PC_EXPORT const struct pc_merge_module pc_merge_module = {
    .abi = PC_MERGE_MODULE_ABI,
    .size = sizeof(struct pc_merge_module),
    .job = merge_job,
    .late = merge_late,
};
