/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of a .pcol file, unchanged and with repaired checksums.
 */
#include "tests/format/mend.h"
#include "tests/fuzz/fuzz.h"

#include "format/profile.h"

#include <string.h>

const enum fuzz_kind fuzz_kind = FUZZ_PCOL;

static void ask_for_values(const char *path, bool whole_is_well)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {0};
    int err = pc_pcol_read_columns(path, &p, &error);
    FUZZ_REQUIRE(!err || !whole_is_well, "refused with columns alone: %s", error.text);
    for (uint32_t i = 0; p && i < p->n_data; i++)
        for (uint32_t k = 0; k < p->n_fields; k++) {
            struct pc_by_rank by = pc_data_by_rank(p, &p->data[i], k);
            bool kept = p->data[i].kept == PC_KEPT_STEPS ? pc_field_in_steps(p, &p->data[i], k)
                                                         : p->data[i].kept != PC_KEPT_NONE;
            FUZZ_REQUIRE(by.n || !kept || pc_profile_unread(p), "values without reason");
        }
    FUZZ_REQUIRE(!whole_is_well || !pc_profile_unread(p), "read whole, but not by columns");
    bool verified = p && !pc_profile_check_values(p, &error);
    FUZZ_REQUIRE(verified == whole_is_well, "%s", whole_is_well ? error.text : "verified wrongly");
    pc_profile_free(p);
}

static void verify_in_order(const char *path, bool whole_is_well)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {0};
    bool verified =
        !pc_pcol_read_contexts(path, true, &p, &error) && !pc_profile_check_values(p, &error);
    FUZZ_REQUIRE(verified == whole_is_well, "in order: %s",
                 whole_is_well ? error.text : "verified wrongly");
    pc_profile_free(p);
}

static void read_pcol(const void *data, size_t n)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {0};
    int fd;
    const char *path = fuzz_file(data, n, &fd);
    if (pc_pcol_read(path, &p, &error)) {
        FUZZ_REQUIRE(!p && error.text[0], "refused without a reason, or with a result");
    } else {
        error.text[0] = '\0';
        FUZZ_REQUIRE(!pc_profile_check(p, &error), "read, and not valid: %s", error.text);
    }
    ask_for_values(path, p != NULL);
    verify_in_order(path, p != NULL);
    pc_profile_free(p);
    fuzz_file_close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    memcpy(copy, data, n);
    mend_checksums(copy, n);
    read_pcol(copy, n);
    if (memcmp(copy, data, n))
        read_pcol(data, n);
    free(copy);
    return 0;
}
