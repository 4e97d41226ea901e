/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every profile needs of contexts that are left in its file: see later_contexts.h. It is apart
 * from their reader, which stands on the files that call this.
 */
#include "format/later_contexts.h"

#include <unistd.h>

struct pc_profile_data *pc_later_contexts_list(struct pc_profile *p, uint32_t number,
                                               const struct pc_profile_data *d)
{
    struct pc_later_contexts *later = p->later_contexts;
    if (p->n_data == later->n_room) {
        size_t room = later->n_room ? 2 * later->n_room : 64;
        uint32_t *numbers = realloc(later->numbers, room * sizeof *numbers);
        later->numbers = numbers ? numbers : later->numbers;
        struct pc_profile_data *data = realloc(p->data, room * sizeof *data);
        p->data = data ? data : p->data;
        if (!numbers || !data)
            return NULL;
        later->n_room = room;
    }
    later->numbers[p->n_data] = number;
    p->data[p->n_data] = *d;
    p->data[p->n_data].stats = NULL;
    return &p->data[p->n_data++];
}

struct pc_profile_data *pc_later_contexts_record(struct pc_profile *p, uint64_t number)
{
    uint32_t i = pc_number_find(p->later_contexts->numbers, p->n_data, number);
    return i == PC_NO_INDEX ? NULL : &p->data[i];
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
