/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the value of each field of each plugin in a profile: PLUGIN.FIELD VALUE, the sum over all
 * contexts and ranks or, for PCOLLECT_MAX, the greatest. Reads the file as the report does, but
 * knows no plugin.
 */
#include "format/profile.h"

#include <stdio.h>

static uint64_t value_of(const struct pc_profile *p, uint32_t k)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < p->n_data; i++) {
        struct pc_stat s = pc_data_stat(p, &p->data[i], k);
        if (p->fields[k].combine == PCOLLECT_SUM)
            value += (uint64_t)s.sum;
        else if (s.max > value)
            value = s.max;
    }
    return value;
}

int main(int argc, char **argv)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    if (argc != 2 || pc_pcol_read(argv[1], &p, &error)) {
        fprintf(stderr, "plugin_values: %s\n", argc == 2 ? error.text : "which file?");
        return 1;
    }
    for (uint32_t k = 0; k < p->n_fields; k++)
        if (p->fields[k].combine == PCOLLECT_SUM || p->fields[k].combine == PCOLLECT_MAX)
            printf("%s.%s %lu\n", p->fields[k].plugin, p->fields[k].name,
                   (unsigned long)value_of(p, k));
    pc_profile_free(p);
    return 0;
}
