/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect verify: reads profiles completely and checks that they are intact. The reader checks
 * every checksum, length, reference and order; values by rank, which may be more than fits in
 * memory, are compared with their statistics a few records at a time. An accepted file fulfils all
 * invariants of format/profile.h.
 */
#include "analysis/buffer.h"
#include "command/command.h"
#include "format/profile.h"

static const struct pct_option options[] = {
    {0, NULL, NULL, NULL},
};

/* Checks a file. The reader leaves out a damaged late part with a remark: here it is an error. */
static int verify_file(const struct pct_command *self, const char *path)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int err = pc_pcol_read_contexts(path, true, &p, &error);
    if (*error.text)
        pct_say(self, "%s", error.text);
    if (!err && !*error.text && pc_profile_check_values(p, &error))
        pct_say(self, "%s: %s; copy the file again", path, error.text);
    if (!err && !*error.text) {
        char *shown = pct_text_escaped(path);
        printf("%s: whole\n", shown);
        pct_free(shown);
    }
    pc_profile_free(p);
    if (err == PC_ENOENT)
        return PCT_CALL;
    return err || *error.text ? PCT_DATA : PCT_DONE;
}

static int verify(const struct pct_command *self, int argc, char **argv)
{
    struct pct_line line;
    int worst = PCT_DONE;
    if (!pct_line_read(self, argc, argv, NULL, &line))
        return line.status;
    for (size_t i = 0; i < line.n_words; i++) {
        int status = verify_file(self, line.words[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

const struct pct_command pct_verify = {
    .name = "verify",
    .synopsis = "FILE...",
    .summary = "check that profiles are complete and undamaged",
    .options = options,
    .argument = "FILE",
    .n_least = 1,
    .n_most = PCT_ANY_NUMBER,
    .main = verify,
};
