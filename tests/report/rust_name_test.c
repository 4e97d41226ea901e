/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Readable names of Rust. The texts are those of c++filt 2.40, but for hashes, types of constants,
 * the `::` before arguments and the brackets around a type that is a path.
 */
#include "analysis/symbols/short_name.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static const struct {
    const char *symbol, *text;
} names[] = {
    /* older symbols */
    {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
    {"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_"
     "str17h1c78cb2a4f4c0c4eE",
     "<alloc::string::String as core::fmt::Write>::write_str"},
    {"_ZN4core3ptr58drop_in_place$LT$alloc..boxed..Box$LT$$u5b$u8$u5d$$GT$$GT$17h81d4a859068f386aE."
     "llvm.5899441008362861102",
     "core::ptr::drop_in_place<alloc::boxed::Box<[u8]>>"},
    {"_ZN9hashbrown3raw21RawTable$LT$T$C$A$GT$14reserve_rehash17hde90ef8933c3a727E.cold",
     "hashbrown::raw::RawTable<T,A>::reserve_rehash.cold"},
    {"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
     "std::rt::lang_start::{{closure}}"},
    /* of C++: the last word is no hash */
    {"_ZN4core3fmt5writeE", NULL},
    {"_ZN4core3fmt17h0123456789abcdeXE", NULL},
    {"_ZN17h0123456789abcdefE", NULL},
    /* v0 */
    {"_RNvCs6GmmlP4bgsG_1r4main", "r::main"},
    {"_RINvCs6GmmlP4bgsG_1r5totalmEB2_", "r::total<u32>"},
    {"_RNvMsM_Cs6GmmlP4bgsG_1rNtB5_4Grid4step", "r::Grid::step"},
    {"_RINvMNtCsgEmfK2I1SDS_4core5sliceSh11copy_withinjECsfEOYDRpO4Ta_11miniz_oxide",
     "<[u8]>::copy_within<usize>"},
    {"_RNCNCINvNtC3std2rt10lang_startuE0s_0", "std::rt::lang_start<()>::{closure#0}::{closure#1}"},
    {"_RNvXsR_NtCs8NwYtU1Mohg_4core6optionINtB5_6OptionINtNtNtCsgVdDwkt78Uu_4jiff4util8rangeint4"
     "ri32Kn0_Kn3b9ac9ff_EENtNtB7_3fmt5Debug3fmtBR_",
     "<core::option::Option<jiff::util::rangeint::ri32<0, 999999999>> as "
     "core::fmt::Debug>::fmt"},
    {"_RINvC1r1fFG_RL0_hEuQDNtC1r1TEL_PAtj10_TccETlEKb1_KpE",
     "r::f<for<'a> fn(&'a u8), &mut dyn r::T, *const [u16; 16], (char, char), (i32,), true, _>"},
    {"_RINvC1r1fDINtC1r1FuEp6OutputuEL_FUKCEzE", "r::f<dyn r::F<(), Output = ()>, unsafe extern "
                                                 "\"C\" fn() -> !>"},
    {"_RNvC1r2_1a.llvm.42.cold", "r::1a.cold"},
    {"_RNvC1ru8gdel_5qa", "r::punycode{gdel_5qa}"},
    /* not understood to the end */
    {"_RNvC1r4mai", NULL},
    {"_RNvC1r4main_", NULL},
    {"_RINvC1r1fE", "r::f<>"},
    {"_RB_", NULL},
    {"_RNvB_1f", NULL},
    {"_Raise", NULL},
    {"_R", NULL},
    {"_ZN", NULL},
    {"main", NULL},
};

static void rust_has_readable_names(void **state)
{
    (void)state;
    struct pct_pool *pool = pct_pool_new();
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++) {
        const char *text = pct_rust_name(names[i].symbol, pool);
        if (text && names[i].text)
            assert_string_equal(text, names[i].text);
        else if (text || names[i].text)
            fail_msg("%s is %s, not %s", names[i].symbol, text ? text : "none",
                     names[i].text ? names[i].text : "none");
    }
    pct_pool_free(pool);
}

/* A reference to what stands at a position behind _R. */
static void put_reference(struct pct_buf *b, size_t at)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    pct_buf_format(b, "B%c%c_", digits[(at - 1) / 62], digits[(at - 1) % 62]);
}

/* Each pair has twice the pair before it. */
static void names_of_any_length_have_an_end(void **state)
{
    (void)state;
    for (int n_pairs = 1; n_pairs <= 40; n_pairs += 39) {
        struct pct_pool *pool = pct_pool_new();
        struct pct_buf b = {0};
        size_t before = 0;
        pct_buf_text(&b, "_RINvC1r1f");
        for (int i = 0; i < n_pairs; i++) {
            size_t at = b.n - 2;
            pct_buf_text(&b, i ? "T" : "TmmE");
            if (i) {
                put_reference(&b, before);
                put_reference(&b, before);
                pct_buf_text(&b, "E");
            }
            before = at;
        }
        pct_buf_text(&b, "E");
        const char *name = pct_rust_name(b.data, pool);
        assert_true(n_pairs == 1 ? !strcmp(name, "r::f<(u32, u32)>") : !name);
        pct_buf_free(&b);
        pct_pool_free(pool);
    }
}

static void damaged_symbols_are_read(void **state)
{
    (void)state;
    static const char signs[] = "_0123456789BCDEFGIKLMNPQRSTUXYasuhjpv.$";
    struct pct_pool *pool = pct_pool_new();
    uint64_t random = test_seed(7);
    for (int round = 0; round < 200000; round++) {
        char symbol[512];
        strcpy(symbol, names[random_below(&random, PC_ARRAY_LEN(names))].symbol);
        for (size_t n = random_below(&random, 4) + 1, length = strlen(symbol); n; n--)
            symbol[random_below(&random, (uint32_t)length)] =
                signs[random_below(&random, sizeof signs - 1)];
        pct_rust_name(symbol, pool);
    }
    pct_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rust_has_readable_names),
        cmocka_unit_test(names_of_any_length_have_an_end),
        cmocka_unit_test(damaged_symbols_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
