/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads jitdump files: whole, in pieces as they grow, cut at each byte, and damaged.
 */
#include "watch/jit_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CODE = 0, DEBUG = 2 };

struct text {
    uint8_t bytes[4096];
    size_t n;
};

static void put(struct text *t, const void *from, size_t n)
{
    assert_true(t->n + n <= sizeof t->bytes);
    memcpy(t->bytes + t->n, from, n);
    t->n += n;
}

static void put_head(struct text *t)
{
    const uint32_t words[10] = {0x4a695444, 1, 48, 62};
    put(t, words, sizeof words);
    put(t, "padding", 8); /* heads may be longer than today's */
}

static void put_record(struct text *t, uint32_t kind, uint64_t address, const char *name)
{
    static const uint8_t code[7];
    const uint32_t first[6] = {kind, (uint32_t)(56 + strlen(name) + 1 + sizeof code)};
    const uint64_t rest[4] = {address, address, sizeof code, 1};
    put(t, first, sizeof first);
    put(t, rest, sizeof rest);
    put(t, name, strlen(name) + 1);
    put(t, code, sizeof code);
}

static struct text three_functions(void)
{
    struct text t = {.n = 0};
    put_head(&t);
    put_record(&t, CODE, 0x1000, "first");
    put_record(&t, DEBUG, 0x1000, "lines");
    put_record(&t, CODE, 0x2000, "second");
    put_record(&t, CODE, 0x3000, "third");
    return t;
}

static void note(void *arg, uint64_t address, uint64_t bytes, const char *name)
{
    char *seen = arg;
    size_t n = strlen(seen);
    snprintf(seen + n, 256 - n, "%llx+%llu %.20s; ", (unsigned long long)address,
             (unsigned long long)bytes, name);
}

static const char all[] = "1000+7 first; 2000+7 second; 3000+7 third; ";

/* Reads the first n bytes of a file. */
static uint64_t read_some(const struct text *t, size_t n, uint64_t from, char *seen)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(t->bytes, 1, n, file), n);
    fflush(file);
    from = pct_jit_dump_read(fileno(file), from, n, note, seen);
    fclose(file);
    return from;
}

static void names_are_those_of_code(void **state)
{
    (void)state;
    char seen[256] = "";
    struct text t = three_functions();
    assert_int_equal(read_some(&t, t.n, 0, seen), t.n);
    assert_string_equal(seen, all);
}

static void a_file_that_grows_gives_each_name_once(void **state)
{
    (void)state;
    struct text t = three_functions();
    for (size_t cut = 0; cut <= t.n; cut++) {
        char seen[256] = "";
        uint64_t from = read_some(&t, cut, 0, seen);
        assert_true(from <= t.n);
        assert_int_equal(strncmp(all, seen, strlen(seen)), 0);
        assert_int_equal(read_some(&t, t.n, from, seen), t.n);
        assert_string_equal(seen, all);
    }
}

static void nothing_follows_what_cannot_be(void **state)
{
    (void)state;
    char seen[256] = "";
    struct text t = three_functions();
    t.bytes[0]++;
    assert_true(read_some(&t, t.n, 0, seen) == UINT64_MAX);
    t = three_functions();
    memset(t.bytes + 52, 0, 4); /* the first record has no length */
    assert_true(read_some(&t, t.n, 0, seen) == UINT64_MAX);
    assert_true(read_some(&t, t.n, UINT64_MAX, seen) == UINT64_MAX);
    assert_string_equal(seen, "");
}

static void a_name_without_end_is_cut(void **state)
{
    (void)state;
    char seen[256] = "", name[3 * PCT_JIT_NAME_BYTES];
    struct text t = {.n = 0};
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    put_head(&t);
    put_record(&t, CODE, 0x1000, name);
    assert_int_equal(read_some(&t, t.n, 0, seen), t.n);
    assert_string_equal(seen, "1000+7 xxxxxxxxxxxxxxxxxxxx; ");
}

static void files_are_known_by_their_names(void **state)
{
    (void)state;
    assert_true(pct_jit_dump_is("/a/b/jit-12.dump"));
    assert_false(pct_jit_dump_is("/a/jit-.dump"));
    assert_false(pct_jit_dump_is("/a/jit-12.dump.so"));
    assert_false(pct_jit_dump_is("/jit-1.dump/libc.so"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_code),
        cmocka_unit_test(a_file_that_grows_gives_each_name_once),
        cmocka_unit_test(nothing_follows_what_cannot_be),
        cmocka_unit_test(a_name_without_end_is_cut),
        cmocka_unit_test(files_are_known_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
