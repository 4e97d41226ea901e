/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measurements from a file: which format it has, and its reader.
 */
#include "command/measurements/measurements.h"

#include <errno.h>
#include <string.h>

/* The first character that is no space, which is pushed back; EOF in an empty file. */
static int first_character(FILE *file)
{
    int c;
    do
        c = getc(file);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    return c;
}

static int read_open(struct pct_fit_reader *r)
{
    int c = first_character(r->file);
    if (ferror(r->file))
        return pc_error_set(r->error, PC_EIO, "%s: %s", r->path, strerror(errno));
    if (c == EOF)
        return pc_error_set(r->error, PC_EFORMAT,
                            "%s: no measurements: it needs PARAMETER, POINTS, REGION and DATA "
                            "lines, or JSON lines",
                            r->path);
    rewind(r->file);
    int err = c == '{' ? pct_fit_read_json(r) : pct_fit_read_text(r);
    if (!err && !r->set->n)
        err = pc_error_set(r->error, PC_EFORMAT, "%s: no DATA line", r->path);
    return err;
}

int pct_fit_read(const char *path, struct pct_fit_set *out, struct pc_error *error)
{
    struct pct_fit_set set = {0};
    struct pct_fit_reader r = {.path = path, .set = &set, .error = error};
    r.file = fopen(path, "re");
    if (!r.file)
        return pc_error_set(error, errno == ENOENT ? PC_ENOENT : PC_EIO, "%s: %s", path,
                            strerror(errno));
    int err = read_open(&r);
    fclose(r.file);
    if (err)
        pct_fit_set_free(&set);
    else
        *out = set;
    return err;
}
