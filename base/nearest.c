/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distance of a mistyped word from a valid one (optimal string alignment: an insertion, a deletion,
 * a change and a swap of neighbours cost one each). AS-safe.
 */
#include "base/nearest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned pc_distance(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b);
    uint8_t rows[3][PC_FAR]; /* table of prefixes: last row but one, last, new */
    if (n_a >= PC_FAR || n_b >= PC_FAR)
        return PC_FAR;
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n_b; j++)
        last[j] = (uint8_t)j;
    for (size_t i = 1; i <= n_a; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned d = last[j - 1] + (a[i - 1] != b[j - 1]);
            d = least(d, least(last[j] + 1u, row[j - 1] + 1u));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, before[j - 2] + 1u);
            row[j] = (uint8_t)d;
        }
        uint8_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[n_b];
}

bool pc_is_near(unsigned distance, size_t length)
{
    return distance <= 1 + length / 4;
}

static void put_lower(char *out, const char *word)
{
    size_t i = 0;
    for (; word[i] && i < PC_NEAREST_BYTES - 1; i++)
        out[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]);
    out[i] = '\0';
}

void pc_nearest_add(struct pc_nearest *n, const char *word)
{
    char a[PC_NEAREST_BYTES], b[PC_NEAREST_BYTES];
    const char *tail = strstr(word, "::");
    if (strlen(word) >= PC_NEAREST_BYTES)
        return;
    put_lower(a, n->wanted);
    put_lower(b, tail && !strstr(n->wanted, "::") ? tail + 2 : word);
    unsigned d = pc_distance(a, b), i = n->n;
    while (i > 0 && n->distances[i - 1] > d)
        i--;
    if (i == PC_N_NEAREST)
        return;
    unsigned n_after = (n->n < PC_N_NEAREST ? n->n : PC_N_NEAREST - 1) - i;
    memmove(&n->distances[i + 1], &n->distances[i], n_after * sizeof n->distances[0]);
    memmove(n->words[i + 1], n->words[i], n_after * sizeof n->words[0]);
    n->distances[i] = d;
    memcpy(n->words[i], word, strlen(word) + 1);
    n->n = i + n_after + 1;
}

size_t pc_nearest_text(const struct pc_nearest *n, char *out, size_t bytes)
{
    unsigned good = 0;
    size_t used = 0;
    while (good < n->n && pc_is_near(n->distances[good], strlen(n->wanted)))
        good++;
    out[0] = '\0';
    for (unsigned i = 0; i < good; i++)
        used += pc_format(out + used, bytes - used, "%s%s",
                          i == 0          ? ""
                          : i + 1 == good ? " or "
                                          : ", ",
                          n->words[i]);
    return used;
}

size_t pc_words_text(const char *const *words, size_t n, char *out, size_t bytes)
{
    size_t used = pc_format(out, bytes, "%s", n ? words[0] : "");
    for (size_t i = 1; i < n; i++)
        used += pc_format(out + used, bytes - used, i + 1 == n ? " and %s" : ", %s", words[i]);
    return used;
}
