/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A separate folder for a unit test, and whole files in it.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH_BYTES 1000

static char folder[200];

/* As group set-up of cmocka. */
static inline int folder_make(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/pcollect-test-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

/* As group tear-down: fails if a test has left files there. */
static inline int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

static inline const char *path_in(char out[PATH_BYTES], const char *name)
{
    snprintf(out, PATH_BYTES, "%s/%s", folder, name);
    return out;
}

/* All bytes of a file, for the caller to free. */
static inline uint8_t *slurp(const char *path, size_t *n_out)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    assert_true(size >= 0);
    rewind(f);
    uint8_t *data = malloc((size_t)size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)size, f), size);
    fclose(f);
    *n_out = (size_t)size;
    return data;
}

static inline void spit(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

#endif
