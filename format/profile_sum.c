/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sum of many profiles: a binary counter whose digits are profiles, so that n of them take
 * log(n) merges each.
 */
#include "format/profile.h"

int pc_profile_sum_add(struct pc_profile_sum *s, struct pc_profile *p, struct pc_error *error)
{
    for (unsigned k = 0; k < PC_ARRAY_LEN(s->part); k++) {
        if (!s->part[k]) {
            s->part[k] = p;
            return PC_OK;
        }
        struct pc_profile *both;
        int err = pc_profile_merge(s->part[k], p, &both, error);
        pc_profile_free(p);
        if (err)
            return err;
        pc_profile_free(s->part[k]);
        s->part[k] = NULL;
        p = both;
    }
    pc_profile_free(p);
    return PC_ENOMEM;
}

int pc_profile_sum_finish(struct pc_profile_sum *s, struct pc_profile **out, struct pc_error *error)
{
    struct pc_profile *sum = NULL;
    for (unsigned k = 0; k < PC_ARRAY_LEN(s->part); k++) {
        if (!s->part[k])
            continue;
        struct pc_profile *both = s->part[k];
        int err = sum ? pc_profile_merge(sum, s->part[k], &both, error) : PC_OK;
        if (err) {
            pc_profile_free(sum);
            pc_profile_sum_free(s);
            return err;
        }
        if (sum) {
            pc_profile_free(sum);
            pc_profile_free(s->part[k]);
        }
        s->part[k] = NULL;
        sum = both;
    }
    *out = sum;
    return PC_OK;
}

void pc_profile_sum_free(struct pc_profile_sum *s)
{
    for (unsigned k = 0; k < PC_ARRAY_LEN(s->part); k++) {
        pc_profile_free(s->part[k]);
        s->part[k] = NULL;
    }
}
