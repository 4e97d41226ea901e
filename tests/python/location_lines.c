/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads "FIRST_LINE TABLE [PLACE LINE]..." (TABLE in hexadecimal) line by line and prints the
 * places for which pc_python_line returns another line; at the end the number of places. Each table
 * is also read cut, and with bytes changed, from a block that ends with it.
 */
#include "libcollect/walk/interpreter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 22 };

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (unsigned byte; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
        out[n] = (uint8_t)byte;
    return n;
}

static void damage(const uint8_t *table, size_t n, uint32_t first_line)
{
    for (size_t cut = 0; cut < n && cut < 64; cut++) {
        uint8_t *block = malloc(n - cut);
        memcpy(block, table, n - cut);
        block[(cut * 7) % (n - cut)] ^= (uint8_t)(1u << cut % 8);
        pc_python_line(block, n - cut, first_line, (int64_t)(cut * 64));
        free(block);
    }
}

int main(void)
{
    char *line = malloc(MOST);
    uint8_t *table = malloc(MOST / 2);
    size_t n_places = 0, n_wrong = 0;
    while (fgets(line, MOST, stdin)) {
        uint32_t first_line = (uint32_t)atoi(strtok(line, " \n"));
        size_t n = from_hex(strtok(NULL, " \n"), table);
        for (const char *word; (word = strtok(NULL, " \n"));) {
            int64_t place = atoi(word);
            uint32_t wanted = (uint32_t)atoi(strtok(NULL, " \n")),
                     got = pc_python_line(table, n, first_line, place);
            n_places++;
            n_wrong += got != wanted;
            if (got != wanted && n_wrong < 10)
                printf("at %lld: %u, not %u\n", (long long)place, got, wanted);
        }
        damage(table, n, first_line);
    }
    printf("%zu places, %zu wrong\n", n_places, n_wrong);
    free(line);
    free(table);
    return n_wrong != 0;
}
