/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An encoded profile, in the form that ranks send and that a .pcol file contains, deflated.
 */
#include "tests/fuzz/fuzz.h"

#include "format/profile.h"

#include <string.h>

const enum fuzz_kind fuzz_kind = FUZZ_PROFILE;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pc_profile *p = NULL, *q = NULL;
    struct pc_error error = {0};
    uint8_t *exact = malloc(n ? n : 1), *first, *second;
    size_t n_first, n_second;
    memcpy(exact, data, n);
    if (pc_profile_decode(exact, n, &p, &error)) {
        FUZZ_REQUIRE(!p && error.text[0], "refused without a reason, or with a result");
    } else {
        error.text[0] = '\0';
        FUZZ_REQUIRE(!pc_profile_check(p, &error), "decoded, and not valid: %s", error.text);
        FUZZ_REQUIRE(!pc_profile_encode(p, &first, &n_first), "does not encode");
        FUZZ_REQUIRE(!pc_profile_decode(first, n_first, &q, &error), "own bytes refused: %s",
                     error.text);
        FUZZ_REQUIRE(!pc_profile_encode(q, &second, &n_second), "does not encode again");
        FUZZ_REQUIRE(n_first == n_second && !memcmp(first, second, n_first), "other bytes");
        free(first);
        free(second);
    }
    pc_profile_free(p);
    pc_profile_free(q);
    free(exact);
    return 0;
}
