/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reduction over the ranks: a binomial tree, log2(P) rounds. In the round of bit b a rank with
 * that bit set sends what it has to the rank without it and is done; the other receives and merges.
 *
 * A message (message.h) is an encoded profile. One of no bytes says that the sender has none. A
 * rank that failed, or lost one below it, sends what it has; rank 0 counts the ranks. Every rank
 * sends or receives in every round that it is in, whatever has failed: nobody waits for ever.
 */
#include "merge/merge.h"
#include "merge/message.h"

#include <stdlib.h>

static int send_profile(const struct pc_transport *t, const struct pc_profile *p, int to)
{
    uint8_t *data = NULL;
    size_t n = 0;
    if (p && pc_profile_encode(p, &data, &n))
        n = 0;
    int err = pc_message_send(t, data, n, to);
    free(data);
    return err;
}

static int receive_profile(const struct pc_transport *t, int from, struct pc_profile **out,
                           struct pc_error *error)
{
    uint64_t n;
    *out = NULL;
    int err = pc_message_size(t, from, &n);
    if (err)
        return pc_error_set(error, err, "nothing can be received from rank %d", from);
    if (!n)
        return PC_OK;
    uint8_t *data = malloc(n);
    err = pc_message_receive(t, data, n, from);
    if (!data)
        err = pc_error_set(error, PC_ENOMEM, "no memory for the %lu bytes of rank %d",
                           (unsigned long)n, from);
    else if (err)
        pc_error_set(error, err, "the profile of rank %d did not arrive", from);
    else
        err = pc_profile_decode(data, n, out, error);
    free(data);
    return err;
}

/* *mine becomes the sum of *mine and theirs; theirs is freed. */
static int add(struct pc_profile **mine, struct pc_profile *theirs, struct pc_error *error)
{
    struct pc_profile *sum = NULL;
    int err = PC_OK;
    if (*mine && theirs) {
        err = pc_profile_merge(*mine, theirs, &sum, error);
        pc_profile_free(theirs);
    } else if (theirs) {
        sum = theirs;
    }
    if (sum) {
        pc_profile_free(*mine);
        *mine = sum;
    }
    return err;
}

int pc_merge_reduce(const struct pc_transport *t, struct pc_profile *mine, struct pc_profile **out,
                    struct pc_error *error)
{
    int first_err = PC_OK;
    *out = NULL;
    for (int bit = 1; bit < t->n_ranks; bit <<= 1) {
        if (t->rank & bit) {
            int err = send_profile(t, mine, t->rank - bit);
            pc_profile_free(mine);
            return first_err ? first_err : err;
        }
        if (t->rank + bit >= t->n_ranks)
            continue;
        struct pc_profile *theirs;
        int err = receive_profile(t, t->rank + bit, &theirs, error);
        if (!err)
            err = add(&mine, theirs, error);
        first_err = first_err ? first_err : err;
    }
    uint32_t have = mine ? mine->n_ranks : 0;
    if (!first_err && have != (uint32_t)t->n_ranks)
        first_err = pc_error_set(error, PC_EMISMATCH, "%u of %d ranks could not be merged",
                                 (unsigned)t->n_ranks - have, t->n_ranks);
    if (first_err)
        pc_profile_free(mine);
    else
        *out = mine;
    return first_err;
}
