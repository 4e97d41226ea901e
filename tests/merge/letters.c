/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/letters.h"

#include <stdlib.h>
#include <string.h>

void letters_post(struct letter **list, const struct letter *l, const void *data)
{
    struct letter *copy = malloc(sizeof *copy + l->n);
    *copy = *l;
    copy->next = NULL;
    if (l->n)
        memcpy(copy->data, data, l->n);
    while (*list)
        list = &(*list)->next;
    *list = copy;
}

struct letter **letters_find(struct letter **list, int from, int to, bool is_broadcast)
{
    while (*list &&
           ((*list)->from != from || (*list)->to != to || (*list)->is_broadcast != is_broadcast))
        list = &(*list)->next;
    return list;
}

void letters_receive(struct letter **at, void *data, size_t n)
{
    struct letter *l = *at;
    if (n)
        memcpy(data, l->data, n);
    *at = l->next;
    free(l);
}
