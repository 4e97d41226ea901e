/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module pcollect-merge.so: what libpcollect.so calls at MPI_Finalize and at the process's end.
 */
#include "merge/module.h"

#include "merge/merge.h"

#include <errno.h>
#include <string.h>

/* What rank 0 tells the others. */
struct verdict {
    int32_t err;
    char path[PCOLLECT_PATH_BYTES];
    char text[sizeof((struct pc_error *)0)->text];
};

static int own_profile(const struct pc_arena *arena, enum pc_merge_part part,
                       struct pc_profile **out, struct pc_error *error)
{
    uint64_t used = __atomic_load_n(&arena->header->used_bytes, __ATOMIC_ACQUIRE);
    return pc_merge_arena(arena->base, used, part, out, error);
}

static int merge_job(const struct pc_arena *arena, const struct pc_transport *transport,
                     const char *out, char *path_out, struct pc_error *error)
{
    struct pc_profile *mine = NULL, *all = NULL;
    struct verdict v = {0};
    struct pc_error damage = {""};
    int saved = errno;
    own_profile(arena, PC_MERGE_MAIN, &mine, &damage);
    int err = pc_merge_reduce(transport, mine, &all, error);
    if (transport->rank == 0) {
        if (!err)
            err = pc_pcol_write(all, out, PC_PCOL_LATE_SLOTS, error);
        v.err = err;
        pc_format(v.path, sizeof v.path, "%s", out);
        pc_format(v.text, sizeof v.text, "%s", err ? error->text : damage.text);
        pc_profile_free(all);
    }
    int sent = transport->broadcast(transport->self, &v, sizeof v, 0);
    errno = saved;
    if (sent)
        return pc_error_set(error, sent, "rank 0 does not say whether the profile was written");
    memcpy(path_out, v.path, sizeof v.path);
    return pc_error_set(error, v.err, "%s", v.text);
}

static int merge_late(const struct pc_arena *arena, const char *path, struct pc_error *error)
{
    struct pc_profile *late = NULL;
    int saved = errno;
    int err = own_profile(arena, PC_MERGE_LATE, &late, error);
    if (!err)
        err = pc_pcol_write_late(path, late, error);
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
