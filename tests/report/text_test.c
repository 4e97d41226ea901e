/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers, escapes and widths of the report.
 */
#include "analysis/buffer.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers and their texts, in all forms that the page of `pcollect html` has too: it is compared
 * with this table. */
static const struct {
    char *(*write)(char *out, pc_u128 v);
    uint64_t value;
    const char *text;
} written[] = {
    {pct_text_time, 0, "0 ns"},
    {pct_text_time, 999, "999 ns"},
    {pct_text_time, 1000, "1.000 us"},
    {pct_text_time, 9999, "9.999 us"},
    {pct_text_time, 12345, "12.35 us"},
    {pct_text_time, 999949, "999.9 us"},
    {pct_text_time, 999950, "1.000 ms"},
    {pct_text_time, 999949999, "999.9 ms"},
    {pct_text_time, 999950000, "1.000 s"},
    {pct_text_time, 1000000, "1.000 ms"},
    {pct_text_time, 1234567890, "1.235 s"},
    {pct_text_time, 9999499999, "9.999 s"},
    {pct_text_time, 9999600000, "10.00 s"},
    {pct_text_time, 99996000000, "100.0 s"},
    {pct_text_time, 123456789012, "123.5 s"},
    {pct_text_time, 999960000000, "1000 s"},
    {pct_text_time, 9999499999999, "9999 s"},
    {pct_text_time, 9999999999999, "10,000 s"},
    {pct_text_time, 14741542000000000, "14,741,542 s"},
    {pct_text_bytes, 0, "0 B"},
    {pct_text_bytes, 1023, "1023 B"},
    {pct_text_bytes, 1536, "1.500 KiB"},
    {pct_text_bytes, 10239995, "9.766 MiB"},
    {pct_text_bytes, 1024, "1.000 KiB"},
    {pct_text_bytes, 1048063, "1023 KiB"},
    {pct_text_bytes, 1048064, "1.000 MiB"},
    {pct_text_bytes, 1048575, "1.000 MiB"},
    {pct_text_bytes, (uint64_t)3 << 40, "3.000 TiB"},
    {pct_text_bytes, (uint64_t)2 << 50, "2.000 PiB"},
    {pct_text_bytes, (uint64_t)1023 << 50, "1023 PiB"},
    {pct_text_bytes, (uint64_t)1 << 60, "1.000 EiB"},
    {pct_text_bytes, UINT64_MAX, "16.00 EiB"},
    {pct_text_count, 0, "0"},
    {pct_text_count, 999, "999"},
    {pct_text_count, 1000, "1,000"},
    {pct_text_count, 123456789, "123,456,789"},
    {pct_text_seconds, 0, "0.000000000"},
    {pct_text_seconds, 1, "0.000000001"},
    {pct_text_seconds, (uint64_t)1 << 53, "9007199.254740992"},
    {pct_text_seconds, UINT64_MAX, "18446744073.709551615"},
    {pct_text_percent, 0, "0.000"},
    {pct_text_percent, 100000, "100.000"},
    {pct_text_percent, 12345, "12.345"},
    {pct_text_percent_1, 49, "0.0 %"},
    {pct_text_percent_1, 50, "0.1 %"},
    {pct_text_percent_1, 1149, "1.1 %"},
    {pct_text_percent_1, 1150, "1.2 %"},
    {pct_text_percent_1, 12345, "12.3 %"},
    {pct_text_percent_1, 12350, "12.4 %"},
    {pct_text_percent_1, 100000, "100.0 %"},
    {pct_text_u128, UINT64_MAX, "18446744073709551615"},
};

/* Prints numbers that are exact in JavaScript: form and type of page/units.js, value and text. */
static int print_numbers(void)
{
    static const struct {
        char *(*write)(char *out, pc_u128 v);
        const char *form;
    } forms[] = {
        {pct_text_time, "forPeople\tns"},       {pct_text_bytes, "forPeople\tbytes"},
        {pct_text_count, "forPeople\tcount"},   {pct_text_percent_1, "forPeople\tpercent"},
        {pct_text_percent, "exactly\tpercent"}, {pct_text_seconds, "exactly\tns"},
    };
    puts("form\ttype\tvalue\ttext");
    for (size_t i = 0; i < PC_ARRAY_LEN(written); i++) {
        bool exact = written[i].value >> 53 == 0 || (written[i].value & 2047) == 0;
        for (size_t k = 0; exact && k < PC_ARRAY_LEN(forms); k++)
            if (written[i].write == forms[k].write)
                printf("%s\t%llu\t%s\n", forms[k].form, (unsigned long long)written[i].value,
                       written[i].text);
    }
    return 0;
}

static void numbers_are_written_with_units(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(written); i++) {
        char out[PCT_NUMBER_BYTES];
        assert_string_equal(written[i].write(out, written[i].value), written[i].text);
    }
}

static void words_for_a_shell_are_read_back(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a.pcol", "a.pcol"},
        {"/x/./-y", "/x/./-y"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"'", "''\\'"
              "''"},
        {"$x;`\\n`", "'$x;`\\n`'"},
        {"\xc3\xa4", "'\xc3\xa4'"},
        {"a\"*", "'a\"*'"},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_buf b = {0}, back = {0};
        pct_text_shell(&b, cases[i][0]);
        assert_string_equal(b.data, cases[i][1]);
        pct_buf_text(&b, " next");
        assert_string_equal(pct_text_unquote(&back, b.data), " next");
        assert_string_equal(back.data, cases[i][0]);
        pct_buf_free(&b);
        pct_buf_free(&back);
    }
}

static void doubles_of_any_size_become_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *seconds;
    } cases[] = {
        {-1, "0 ns"},
        {NAN, "0 ns"},
        {0.5, "1 ns"},
        {1e19, "10,000,000,000 s"},
        {0x1p70, "1,180,591,620,717 s"},
        {1e60, "1,267,650,600,228,229,401,497 s"},
        {HUGE_VAL, "1,267,650,600,228,229,401,497 s"},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        char out[PCT_NUMBER_BYTES];
        assert_string_equal(pct_text_time(out, pct_text_whole(cases[i].value)), cases[i].seconds);
    }
}

/* The greatest numbers fit, and 128 bits are written in full. */
static void the_greatest_numbers_fit(void **state)
{
    (void)state;
    char out[PCT_NUMBER_BYTES];
    pc_u128 most = ~(pc_u128)0;
    assert_string_equal(pct_text_u128(out, most), "340282366920938463463374607431768211455");
    pct_text_count(out, most);
    pct_text_time(out, most);
    pct_text_bytes(out, most);
    assert_string_equal(pct_text_seconds(out, most), "340282366920938463463374607431.768211455");
    assert_true(pct_text_share(most, most) - 99999 <= 2);
    assert_true(pct_text_share(most / 2, most) - 49999 <= 2);
    assert_true(pct_text_share(1, 0) == 0);
}

/* Scaled times compared with floating-point arithmetic: they have four digits, so the error is at
 * most half of the fourth. */
static void scaled_times_round_to_four_digits(void **state)
{
    (void)state;
    uint64_t seed = test_seed(1);
    for (unsigned i = 0; i < 20000; i++) {
        seed = pc_hash_u64(seed + i);
        uint64_t ns = seed >> (seed & 63);
        char out[PCT_NUMBER_BYTES];
        double number;
        char unit[8];
        pct_text_time(out, ns);
        for (char *at = out, *comma; (comma = strchr(at, ',')); at = comma)
            memmove(comma, comma + 1, strlen(comma));
        assert_int_equal(sscanf(out, "%lf %7s", &number, unit), 2);
        double scale = !strcmp(unit, "ns")   ? 1
                       : !strcmp(unit, "us") ? 1e3
                       : !strcmp(unit, "ms") ? 1e6
                                             : 1e9;
        assert_true(number < 1000 || scale >= 1e9);
        assert_true(fabs(number * scale - (double)ns) <= (double)ns * 0.00051);
    }
}

static void estimates_have_the_digits_of_their_error(void **state)
{
    (void)state;
    static const struct {
        double value, error;
        enum pct_unit unit;
        const char *text;
    } cases[] = {
        {12.345e6, 0.4321e6, PCT_UNIT_NONE, "12.3 M +- 0.4 M"},
        {12.345e6, 0.1321e6, PCT_UNIT_NONE, "12.35 M +- 0.13 M"},
        {12.345e6, 3e6, PCT_UNIT_NONE, "12 M +- 3 M"},
        {9999, 12, PCT_UNIT_NONE, "9999 +- 12"},
        {10001, 12, PCT_UNIT_NONE, "10.001 k +- 0.012 k"},
        {0, 3, PCT_UNIT_NONE, "0 +- 3"},
        {12.345e6, 1, PCT_UNIT_NONE, "12.35 M"},
        {0, 0, PCT_UNIT_NS, "0 ns"},
        {9999.4e9, 1, PCT_UNIT_NS, "9999 s"},
        {9999.6e9, 1, PCT_UNIT_NS, "10,000 s"},
        {272703.4e9, 1, PCT_UNIT_NS, "272,703 s"},
        {303955.4e9, 12345e9, PCT_UNIT_NS, "303,955 s +- 12,345 s"},
        {12345.678e9, 0.19e9, PCT_UNIT_NS, "12,345.68 s +- 0.19 s"},
        {9999.4e9, 200e9, PCT_UNIT_NS, "9999 s +- 200 s"},
        {12345e12, 0, PCT_UNIT_NONE, "12,345 T"},
        {1.8374e9, 0.16e9, PCT_UNIT_NS, "1.84 s +- 0.16 s"},
        {999.9e6, 30e6, PCT_UNIT_NS, "1.00 s +- 0.03 s"},
        {999.9e6, 0.5e6, PCT_UNIT_NS, "999.9 ms +- 0.5 ms"},
        {999.96e6, 0.5e6, PCT_UNIT_NS, "1.0000 s +- 0.0005 s"},
        {999.96e6, 1, PCT_UNIT_NS, "1 s"},
        {999.94e6, 1, PCT_UNIT_NS, "999.9 ms"},
        {9999.6, 12, PCT_UNIT_NONE, "10.000 k +- 0.012 k"},
        {9999.6, 0, PCT_UNIT_NONE, "10 k"},
        {999960, 0, PCT_UNIT_NONE, "1 M"},
        {5e3, 2e3, PCT_UNIT_NS, "5 us +- 2 us"},
        {7, 2, PCT_UNIT_NS, "7 ns +- 2 ns"},
        {1.5e6, 4e6, PCT_UNIT_NS, "2 ms +- 4 ms"},
        {12.14, 1.97, PCT_UNIT_PERCENT, "12.1 % +- 2.0 %"},
        {100, 0.05, PCT_UNIT_PERCENT, "100.00 % +- 0.05 %"},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_buf b = {0};
        pct_text_estimate(&b, cases[i].value, cases[i].error, cases[i].unit);
        assert_string_equal(b.data, cases[i].text);
        pct_buf_free(&b);
    }
}

static void undo_escape(const char *text, char *out)
{
    while (*text) {
        if (*text != '\\') {
            *out++ = *text++;
            continue;
        }
        text++;
        if (*text == 'x') {
            char digits[3] = {text[1], text[2], 0};
            *out++ = (char)strtoul(digits, NULL, 16);
            text += 3;
            continue;
        }
        *out++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : *text == 'r' ? '\r' : *text;
        text++;
    }
    *out = 0;
}

static void escapes_are_clean_and_can_be_undone(void **state)
{
    (void)state;
    uint64_t seed = test_seed(7);
    for (unsigned i = 0; i < 20000; i++) {
        static const char alphabet[] =
            "ab \t\n\\>@x\xc3\xbc\xe2\x80\xae\xf0\x9f\x98\x80\xff\x1b\x7f";
        char text[24] = "", back[24];
        for (size_t k = 0; k + 1 < sizeof text - (i & 15); k++) {
            seed = pc_hash_u64(seed + k + i);
            text[k] = alphabet[seed % (sizeof alphabet - 1)];
        }
        struct pct_buf b = {0};
        pct_text_escape(&b, text, i & 1 ? PCT_ESCAPE_NAME : PCT_ESCAPE_CELL);
        for (size_t at = 0; at < b.n;) {
            size_t length = pct_text_utf8(b.data + at, b.n - at);
            assert_true(length > 0);
            assert_true((uint8_t)b.data[at] >= 0x20 && b.data[at] != 0x7f);
            at += length;
        }
        if (i & 1)
            assert_null(strstr(b.data, " > "));
        undo_escape(b.data, back);
        assert_string_equal(back, text);
        pct_buf_free(&b);
    }
}

/* By definition: decoded and encoded again, a text is the same. */
static void utf8_is_told_from_what_is_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"\xc3\xbc", 2},
        {"\xe2\x82\xac", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"\x80", 0},
        {"\xc0\xaf", 0},
        {"\xc1\xbf", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xed\xa0\x80", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xc3", 0},
        {"\xe2\x82", 0},
        {"\xc3(", 0},
        {"", 0},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++)
        assert_int_equal(pct_text_utf8(cases[i].text, strlen(cases[i].text)), cases[i].length);
}

static void long_texts_lose_their_middle(void **state)
{
    (void)state;
    for (size_t cells = 0; cells < 40; cells++) {
        struct pct_buf b = {0};
        pct_text_cut(&b, "gr\xc3\xbc\xc3\x9f_dich_f\xc3\xbcr_immer_und_ewig", cells, cells & 1);
        assert_true(pct_text_cells(b.data) <= cells);
        for (size_t at = 0; at < b.n; at += pct_text_utf8(b.data + at, b.n - at))
            assert_true(pct_text_utf8(b.data + at, b.n - at) > 0);
        pct_buf_free(&b);
    }
}

static void equal_texts_are_kept_once(void **state)
{
    (void)state;
    struct pct_pool *p = pct_pool_new();
    const char *first[5000];
    char text[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %d", i);
        first[i] = pct_pool_intern(p, text);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %d", i);
        assert_ptr_equal(pct_pool_intern(p, text), first[i]);
        assert_string_equal(first[i], text);
    }
    pct_pool_free(p);
}

static void sixteen_digits_are_those_of_printf(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 0xa, 0x123456789abcdef, 0xfedcba9876543210, UINT64_MAX};
    for (size_t i = 0; i < PC_ARRAY_LEN(numbers); i++) {
        struct pct_buf b = {0};
        char wanted[32];
        snprintf(wanted, sizeof wanted, "x%016llx", (unsigned long long)numbers[i]);
        pct_buf_format(&b, "%s", "");
        assert_string_equal(b.data, "");
        pct_buf_text(&b, "x");
        pct_buf_hex(&b, numbers[i]);
        assert_string_equal(b.data, wanted);
        pct_buf_free(&b);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--numbers"))
        return print_numbers();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_with_units),
        cmocka_unit_test(words_for_a_shell_are_read_back),
        cmocka_unit_test(doubles_of_any_size_become_whole_numbers),
        cmocka_unit_test(the_greatest_numbers_fit),
        cmocka_unit_test(scaled_times_round_to_four_digits),
        cmocka_unit_test(estimates_have_the_digits_of_their_error),
        cmocka_unit_test(escapes_are_clean_and_can_be_undone),
        cmocka_unit_test(utf8_is_told_from_what_is_not),
        cmocka_unit_test(long_texts_lose_their_middle),
        cmocka_unit_test(equal_texts_are_kept_once),
        cmocka_unit_test(sixteen_digits_are_those_of_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
