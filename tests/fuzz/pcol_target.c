/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of a .pcol file, as they are and with checksums that hold.
 */
#include "tests/format/mend.h"
#include "tests/fuzz/fuzz.h"

#include "format/profile.h"

#include <string.h>

const enum fuzz_kind fuzz_kind = FUZZ_PCOL;

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
