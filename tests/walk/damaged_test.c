/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Unwind tables that are damaged or made of random bytes: the reader of tables never reads outside
 * of the segment that it was given, ends, and returns a valid rule. The tables lie between two
 * pages that cannot be read. All seeds are fixed.
 */
#define _GNU_SOURCE 1

#include "libcollect/walk/walk_private.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 65536u /* the largest page of any kernel */

#if PC_WALK_KNOWN

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t random_u64(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t random_below(size_t n)
{
    return (size_t)(random_u64() % n);
}

/* ---- Memory between two pages without access ------------------------------------------------- */

struct fenced {
    uint8_t *all, *memory;
    size_t n_all, n_bytes;
};

/* Returns n_bytes that end at the upper page without access. */
static struct fenced make_fenced(size_t n_bytes)
{
    size_t inner = (n_bytes + PAGE - 1) / PAGE * PAGE;
    struct fenced f = {.n_all = inner + 2 * PAGE, .n_bytes = n_bytes};
    f.all = mmap(NULL, f.n_all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.all != MAP_FAILED);
    assert_int_equal(mprotect(f.all + PAGE, inner, PROT_READ | PROT_WRITE), 0);
    f.memory = f.all + PAGE + inner - n_bytes;
    return f;
}

static void free_fenced(struct fenced *f)
{
    munmap(f->all, f->n_all);
}

/* ---- Conditions of every answer -------------------------------------------------------------- */

struct tally {
    long rules, refused;
};

static void ask(const struct pc_cfi_image *image, uintptr_t pc, struct tally *tally)
{
    struct pc_rule rule;
    bool known = pc_cfi_rule(image, pc, &rule);
    assert_true(known == (rule.cfa != PC_CFA_NONE));
    assert_int_equal(rule.generation, 0);
    assert_int_equal(rule.module, 0);
    assert_int_equal(rule.valid, 1);
    if (known) {
        assert_true(rule.cfa <= PC_CFA_REGISTER);
        assert_true(rule.cfa != PC_CFA_REGISTER || rule.deref_off + 1 <= PC_N_REGISTERS);
        assert_true(rule.ra < PC_LOC_EXOTIC);
        assert_true(rule.fp <= PC_LOC_EXOTIC);
    }
    uintptr_t start = pc_cfi_function_start(image, pc);
    assert_true(start <= pc);
    tally->rules += known;
    tally->refused += !known;
}

/* ---- A copy of libc's tables ----------------------------------------------------------------- */

struct copy {
    struct fenced fenced;
    struct pc_cfi_image image;
    uint32_t n_functions;
    const uint8_t *rows; /* pairs of i32 from hdr: function, entry */
};

/* Copies only the segment that holds the tables: addresses in the tables are relative to it. */
static struct copy copy_tables(uintptr_t pc)
{
    struct pc_module *module = pc_loadmap_find(pc);
    struct pc_cfi_image original;
    struct copy c = {0};
    assert_non_null(module);
    pc_loadmap_image(module, &original);
    for (int i = 0; i < original.n_segments; i++) {
        uintptr_t lo = original.segments[i].lo, hi = original.segments[i].hi;
        if ((uintptr_t)original.hdr < lo || (uintptr_t)original.hdr >= hi)
            continue;
        c.fenced = make_fenced(hi - lo);
        memcpy(c.fenced.memory, (const void *)lo, hi - lo);
        c.image.hdr = c.fenced.memory + ((uintptr_t)original.hdr - lo);
        c.image.n_segments = 1;
        c.image.segments[0].lo = (uintptr_t)c.fenced.memory;
        c.image.segments[0].hi = (uintptr_t)c.fenced.memory + (hi - lo);
    }
    assert_non_null(c.image.hdr);
    memcpy(&c.n_functions, c.image.hdr + 8, sizeof c.n_functions);
    c.rows = c.image.hdr + 12;
    assert_true(c.n_functions > 1000);
    return c;
}

static uintptr_t from_hdr(const struct copy *c, uint32_t row, int column)
{
    int32_t distance;
    memcpy(&distance, c->rows + row * 8 + column * 4, sizeof distance);
    return (uintptr_t)c->image.hdr + (uintptr_t)(intptr_t)distance;
}

/* Hash over the rules of all functions. It must be equal before damage and after its repair. */
static uint64_t hash_rules(const struct copy *c)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < c->n_functions; i++) {
        struct pc_rule rule;
        pc_cfi_rule(&c->image, from_hdr(c, i, 0) + i % 16, &rule);
        hash = pc_hash_bytes(&rule, sizeof rule, hash);
    }
    return hash;
}

#define MAX_DAMAGE 4

/* Writes some random bytes into one function's entry, its row of the table or the header; looks the
 * function up; restores the bytes. */
static void damage_and_ask(struct copy *c, struct tally *tally)
{
    static const uint8_t wild[] = {0, 1, 0x7f, 0x80, 0xff};
    uint8_t *at[MAX_DAMAGE], old[MAX_DAMAGE];
    uint32_t function = (uint32_t)random_below(c->n_functions);
    uintptr_t pc = from_hdr(c, function, 0), entry = from_hdr(c, function, 1);
    uint32_t cie_distance;
    memcpy(&cie_distance, (const void *)(entry + 4), sizeof cie_distance);
    uint8_t *places[] = {(uint8_t *)entry, (uint8_t *)entry, (uint8_t *)(entry + 4 - cie_distance),
                         (uint8_t *)(uintptr_t)c->rows + function * 8,
                         (uint8_t *)(uintptr_t)c->image.hdr};
    size_t n = 1 + random_below(MAX_DAMAGE);
    for (size_t i = 0; i < n; i++) {
        at[i] = places[random_below(PC_ARRAY_LEN(places))] + random_below(32);
        uint8_t *end = c->fenced.memory + c->fenced.n_bytes;
        at[i] = at[i] < end ? at[i] : end - 1;
        old[i] = *at[i];
        *at[i] = random_below(2) ? wild[random_below(sizeof wild)] : (uint8_t)random_u64();
    }
    for (int i = 0; i < 3; i++)
        ask(&c->image, pc + random_below(i ? 4096 : 16), tally);
    while (n-- > 0)
        *at[n] = old[n];
}

static void damaged_tables_give_rules_or_none(void **unused)
{
    (void)unused;
    struct tally tally = {0};
    struct copy c = copy_tables((uintptr_t)&qsort);
    uint64_t before = hash_rules(&c);
    state = test_seed(1);
    for (int i = 0; i < 30000; i++)
        damage_and_ask(&c, &tally);
    assert_true(hash_rules(&c) == before);
    assert_true(tally.rules > 1000 && tally.refused > 1000);
    free_fenced(&c.fenced);
}

static void tables_that_end_early_give_rules_or_none(void **unused)
{
    (void)unused;
    struct tally tally = {0};
    struct copy c = copy_tables((uintptr_t)&qsort);
    state = test_seed(2);
    for (int i = 0; i < 2000; i++) {
        size_t n = random_below(c.fenced.n_bytes);
        struct fenced f = make_fenced(n + 1);
        memcpy(f.memory, c.fenced.memory, n + 1);
        struct pc_cfi_image image = {
            .hdr = f.memory + (c.image.hdr - c.fenced.memory),
            .n_segments = 1,
            .segments = {{(uintptr_t)f.memory, (uintptr_t)f.memory + n + 1}}};
        for (int k = 0; k < 10; k++) {
            uintptr_t pc = from_hdr(&c, (uint32_t)random_below(c.n_functions), 0);
            ask(&image, pc - (uintptr_t)c.fenced.memory + (uintptr_t)f.memory, &tally);
        }
        free_fenced(&f);
    }
    assert_true(tally.rules > 100 && tally.refused > 100);
    free_fenced(&c.fenced);
}

/* ---- Random bytes ---------------------------------------------------------------------------- */

static void put_u32(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
}

/* Random instructions behind a CIE and an FDE that are valid, so that the interpreter executes
 * them; the FDE covers the 64 bytes from `memory` on. */
static void make_entry(struct fenced *f, size_t at)
{
    static const uint8_t cie[] = {
        1, 'z', 'R', 0, 1, 0x78, PC_REG_RA, 1, 0x1b, 0x0c, PC_REG_SP, 8, 0x80 | PC_REG_RA, 1};
    uint8_t *p = f->memory + at;
    size_t cie_bytes = 4 + sizeof cie + (random_below(2) ? 0 : random_below(12));
    put_u32(p, (uint32_t)cie_bytes);
    put_u32(p + 4, 0);
    memcpy(p + 8, cie, sizeof cie);
    uint8_t *fde = p + 4 + cie_bytes;
    put_u32(fde, (uint32_t)(f->memory + f->n_bytes - fde - 4));
    put_u32(fde + 4, (uint32_t)(fde + 4 - p));
    put_u32(fde + 8, (uint32_t)(f->memory - (fde + 8)));
    put_u32(fde + 12, 64);
    fde[16] = 0;
}

static void make_hdr(struct fenced *f, size_t entry, bool sorted)
{
    static const uint8_t head[] = {1, 0x1b, 0x03, 0x3b};
    memcpy(f->memory, head, sizeof head);
    if (!sorted)
        f->memory[3] = 0xff;
    put_u32(f->memory + 4, (uint32_t)(entry - 4));
    put_u32(f->memory + 8, 1);
    put_u32(f->memory + 12, 0);
    put_u32(f->memory + 16, (uint32_t)entry + 4 + *(uint32_t *)(void *)(f->memory + entry));
}

static void random_bytes_give_rules_or_none(void **unused)
{
    (void)unused;
    struct tally tally = {0};
    state = test_seed(3);
    for (int i = 0; i < 40000; i++) {
        static struct fenced f;
        if (i % 1000 == 0) {
            if (f.all)
                free_fenced(&f);
            f = make_fenced((104 + random_below(200)) & ~(size_t)7);
        }
        for (size_t k = 0; k < f.n_bytes; k++)
            f.memory[k] = random_below(3) ? (uint8_t)random_u64() : (uint8_t)random_below(20);
        if (i % 4) {
            make_entry(&f, 20);
            make_hdr(&f, 20, i % 4 != 1);
        }
        struct pc_cfi_image image = {
            .hdr = f.memory,
            .n_segments = 1,
            .segments = {{(uintptr_t)f.memory, (uintptr_t)f.memory + f.n_bytes}}};
        ask(&image, (uintptr_t)f.memory + random_below(64), &tally);
    }
    assert_true(tally.rules > 100 && tally.refused > 1000);
}

static void random_expressions_give_values_or_none(void **unused)
{
    (void)unused;
    static const uint8_t ops[] = {0x03, 0x06, 0x08, 0x09, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14,
                                  0x15, 0x16, 0x1a, 0x1c, 0x1e, 0x1f, 0x20, 0x22, 0x23, 0x24,
                                  0x25, 0x26, 0x2a, 0x30, 0x3f, 0x76, 0x77, 0x8d, 0x8f, 0x92};
    struct fenced f = make_fenced(24);
    long known = 0;
    state = test_seed(4);
    for (int i = 0; i < 100000; i++) {
        size_t n = random_below(25);
        for (size_t k = 0; k < n; k++)
            f.memory[24 - n + k] =
                random_below(4) ? ops[random_below(sizeof ops)] : (uint8_t)random_u64();
        struct pc_expr_value v;
        known += pc_expr_evaluate(f.memory + 24 - n, n, 0x1234, i & 1, &v);
    }
    assert_true(known > 1000 && known < 99000);
    free_fenced(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_tables_give_rules_or_none),
        cmocka_unit_test(tables_that_end_early_give_rules_or_none),
        cmocka_unit_test(random_bytes_give_rules_or_none),
        cmocka_unit_test(random_expressions_give_values_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void no_tables_are_read(void **unused)
{
    (void)unused;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_tables_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
