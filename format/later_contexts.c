/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every profile needs of contexts that are left in its file: see later_contexts.h. It is apart
 * from their reader, which stands on the files that call this.
 */
#include "format/later_contexts.h"

#include <unistd.h>

struct pc_profile_data *pc_later_contexts_record(struct pc_profile *p, uint64_t number)
{
    const struct pc_later_contexts *later = p->later_contexts;
    size_t lo = 0, hi = p->n_data;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (later->numbers[mid] < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->n_data && later->numbers[lo] == number ? &p->data[lo] : NULL;
}

const char *pc_later_contexts_error(const struct pc_later_contexts *later)
{
    return later && *later->error.text ? later->error.text : NULL;
}

void pc_later_contexts_close(struct pc_profile *p)
{
    struct pc_later_contexts *later = p->later_contexts;
    if (!later)
        return;
    close(later->nodes.fd);
    free(later->numbers);
    free(p->data);
    free(later);
}
