/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Readers of damaged data: arenas of which any bytes were changed or cut off, arenas of killed
 * writers, encoded profiles and .pcol files with valid checksums and wrong contents. Seeds are
 * fixed; PCOLLECT_TEST_FUZZ=N does N times as many rounds. Each image ends at a page that cannot be
 * read.
 */
#include "merge/lists.h"
#include "tests/format/mend.h"
#include "tests/merge/made_arena.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/folder.h"

static unsigned rounds(unsigned n)
{
    const char *times = getenv("PCOLLECT_TEST_FUZZ");
    return times && atoi(times) > 0 ? n * (unsigned)atoi(times) : n;
}

static const unsigned shapes_to_damage[] = {0, 1, 2, 3, 7, 8}; /* the last have everything */

static void make(struct made *m, unsigned shape, uint64_t seed)
{
    struct making how = {.n_ranks = 1,
                         .seed = seed,
                         .bytes = (size_t)1 << 20,
                         .all_kinds = shapes[shape].all_kinds,
                         .tables = shapes[shape].tables,
                         .per_rank = shapes[shape].per_rank};
    unsigned n;
    struct fact *facts = random_facts(&shapes[shape], seed, 0, &n);
    made_arena(m, &how, facts, n);
    made_book_late(m, &how, facts, n / 4);
    free(facts);
}

/* The result is an error with a text, or a profile with all invariants. */
static struct pc_profile *read_any(const struct guarded *g, enum pc_merge_part part,
                                   struct pc_error *error)
{
    struct pc_profile *p = NULL;
    struct pc_error broken;
    int err = pc_merge_arena(g->data, g->n, part, &p, error);
    if (err) {
        assert_null(p);
        assert_int_not_equal(error->text[0], 0);
        return NULL;
    }
    if (pc_profile_check(p, &broken))
        fail_msg("not a valid profile: %s", broken.text);
    assert_int_equal(!!(p->ranks->notes & PCOLLECT_NOTE_DAMAGED), error->text[0] != 0);
    return p;
}

static void read_all_parts(const struct guarded *g)
{
    struct pc_error error;
    for (int part = PC_MERGE_MAIN; part <= PC_MERGE_ALL; part++)
        pc_profile_free(read_any(g, (enum pc_merge_part)part, &error));
}

static uint64_t total(const struct pc_profile *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += (uint64_t)pc_data_stat(p, &p->data[i], 0).sum;
    return sum;
}

/* ---- Arenas ---------------------------------------------------------------------------------- */

static void change_bytes(struct guarded *g, struct rng *r)
{
    static const uint32_t nasty[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
    /* The header is large and mostly text: half of the changes are after it. */
    size_t from = rng_below(r, 2) ? sizeof(struct pcollect_arena_header) : 0;
    if (from >= g->n)
        from = 0;
    for (uint64_t n = 1 + rng_below(r, 6); n; n--) {
        size_t at = from + rng_below(r, g->n - from);
        uint32_t word;
        switch (rng_below(r, 4)) {
        case 0:
            g->data[at] = (char)(g->data[at] ^ 1 << rng_below(r, 8));
            break;
        case 1:
            g->data[at] = (char)rng_next(r);
            break;
        default: /* a reference or a length */
            word = rng_below(r, 2) ? nasty[rng_below(r, PC_ARRAY_LEN(nasty))]
                                   : (uint32_t)rng_below(r, g->n / PCOLLECT_REF_UNIT + 8);
            memcpy(g->data + at / 4 * 4, &word, sizeof word);
        }
    }
}

static void changed_bytes_never_crash_the_reader(void **state)
{
    (void)state;
    for (unsigned s = 0; s < PC_ARRAY_LEN(shapes_to_damage); s++) {
        unsigned shape = shapes_to_damage[s];
        struct made m;
        make(&m, shape, shape + 1);
        for (unsigned i = 0; i < rounds(2700); i++) {
            struct rng r = {test_seed(shape * 1000003u + i)};
            struct guarded g;
            guarded_copy(&g, m.arena.base, m.arena.header->used_bytes);
            change_bytes(&g, &r);
            read_all_parts(&g);
            guarded_free(&g);
        }
        pc_arena_close(&m.arena);
    }
}

static void truncation_anywhere_is_refused_or_marked(void **state)
{
    (void)state;
    struct made m;
    make(&m, 1, 7);
    size_t n = m.arena.header->used_bytes;
    struct guarded g;
    struct pc_error error;
    guarded_copy(&g, m.arena.base, n);
    struct pc_profile *whole = read_any(&g, PC_MERGE_ALL, &error), *p;
    guarded_free(&g);
    for (size_t cut = 0; cut < n; cut += cut < 64 ? 16 : 208) {
        guarded_copy(&g, m.arena.base, cut);
        p = read_any(&g, PC_MERGE_ALL, &error);
        if (cut < sizeof(struct pcollect_arena_header))
            assert_null(p);
        if (cut > n / 2) /* not the modules and fields at the front */
            assert_non_null(p);
        if (p && total(p) != total(whole)) {
            assert_true(total(p) < total(whole));
            assert_int_not_equal(error.text[0], 0);
        }
        pc_profile_free(p);
        guarded_free(&g);
    }
    pc_profile_free(whole);
    pc_arena_close(&m.arena);
}

enum kind { TO_THREAD, TO_NODE, TO_RECORD };

/* All references of the trees: kind, and offset of the u32 in the image. */
struct references {
    unsigned n;
    enum kind kind[4000];
    size_t at[4000];
};

static void add_reference(struct references *r, enum kind kind, size_t at)
{
    if (r->n < PC_ARRAY_LEN(r->at)) {
        r->kind[r->n] = kind;
        r->at[r->n++] = at;
    }
}

static void find_in_tree(const struct made *m, pcollect_ref root, struct references *r)
{
    for (pcollect_ref node = root; node;) {
        const struct pcollect_node *x = pc_arena_at(&m->arena, node);
        size_t base = (size_t)node * PCOLLECT_REF_UNIT;
        add_reference(r, TO_NODE, base + offsetof(struct pcollect_node, first_child));
        add_reference(r, TO_NODE, base + offsetof(struct pcollect_node, next));
        add_reference(r, TO_RECORD, base + offsetof(struct pcollect_node, record));
        node = x->first_child;
        while (!node && x->kind != PCOLLECT_NODE_ROOT) {
            node = x->next;
            x = pc_arena_at(&m->arena, x->parent);
        }
    }
}

static void find_references(const struct made *m, struct references *r)
{
    const struct pcollect_arena_header *h = m->arena.header;
    add_reference(r, TO_THREAD, offsetof(struct pcollect_arena_header, threads));
    for (pcollect_ref t = h->threads; t;) {
        const struct pcollect_thread *thread = pc_arena_at(&m->arena, t);
        size_t base = (size_t)t * PCOLLECT_REF_UNIT;
        add_reference(r, TO_THREAD, base + offsetof(struct pcollect_thread, next));
        add_reference(r, TO_NODE, base + offsetof(struct pcollect_thread, root));
        find_in_tree(m, thread->root, r);
        t = thread->next;
    }
}

/* Sets one reference to the target of another of its kind. */
static void redirect(struct guarded *g, const struct made *m, const struct references *refs,
                     struct rng *r)
{
    size_t from = rng_below(r, refs->n), to;
    do
        to = rng_below(r, refs->n);
    while (refs->kind[to] != refs->kind[from]);
    memcpy(g->data + refs->at[from], m->arena.base + refs->at[to], sizeof(pcollect_ref));
}

/* References with the targets of other references: circles, lists that share their tail, two nodes
 * with one record, one tree in another. */
static void circles_and_shared_tails_are_counted_once(void **state)
{
    (void)state;
    static struct references refs;
    struct pc_error error;
    for (unsigned s = 1; s < PC_ARRAY_LEN(shapes_to_damage); s++) {
        unsigned shape = shapes_to_damage[s];
        struct made m;
        unsigned n_marked = 0;
        make(&m, shape, shape + 20);
        refs.n = 0;
        find_references(&m, &refs);
        struct guarded g;
        guarded_copy(&g, m.arena.base, m.arena.header->used_bytes);
        struct pc_profile *p = read_any(&g, PC_MERGE_ALL, &error);
        uint64_t whole = total(p), calls = p->ranks->mpi_calls;
        pc_profile_free(p);
        guarded_free(&g);
        for (unsigned i = 0; i < rounds(3000); i++) {
            struct rng r = {test_seed(shape * 31u + i)};
            guarded_copy(&g, m.arena.base, m.arena.header->used_bytes);
            for (uint64_t k = 1 + rng_below(&r, 3); k; k--)
                redirect(&g, &m, &refs, &r);
            p = read_any(&g, PC_MERGE_ALL, &error);
            if (p && (total(p) > whole || p->ranks->mpi_calls > calls))
                fail_msg("round %u: %lu calls of %lu", i, (unsigned long)total(p),
                         (unsigned long)whole);
            n_marked += error.text[0] != 0;
            pc_profile_free(p);
            guarded_free(&g);
        }
        assert_true(n_marked > 100);
        pc_arena_close(&m.arena);
    }
}

static void fields_of_impossible_number_are_refused(void **state)
{
    (void)state;
    struct made m;
    struct pc_error error;
    static const uint32_t numbers[] = {4097, 100000, 0x7fffffff, 0xffffffff};
    make(&m, 0, 1);
    for (unsigned i = 0; i < PC_ARRAY_LEN(numbers); i++) {
        struct guarded g;
        guarded_copy(&g, m.arena.base, m.arena.header->used_bytes);
        struct pcollect_plugin_rec *plugin =
            (void *)(g.data + m.arena.header->plugins * PCOLLECT_REF_UNIT);
        plugin->n_fields = numbers[i];
        assert_null(read_any(&g, PC_MERGE_MAIN, &error));
        guarded_free(&g);
    }
    pc_arena_close(&m.arena);
}

/* read_any compares the note with the text. */
static void a_note_of_damage_in_the_header_is_not_believed(void **state)
{
    (void)state;
    struct made m;
    struct pc_error error;
    make(&m, 0, 1);
    m.arena.header->notes |= PCOLLECT_NOTE_DAMAGED | PCOLLECT_NOTE_SLOW_CLOCK;
    struct guarded g;
    guarded_copy(&g, m.arena.base, m.arena.header->used_bytes);
    struct pc_profile *p = read_any(&g, PC_MERGE_ALL, &error);
    assert_non_null(p);
    assert_int_not_equal(p->ranks->notes & PCOLLECT_NOTE_SLOW_CLOCK, 0);
    pc_profile_free(p);
    guarded_free(&g);
    pc_arena_close(&m.arena);
}

static void other_layouts_are_refused_by_name(void **state)
{
    (void)state;
    struct made m;
    struct pc_error error;
    struct pc_profile *p = NULL;
    make(&m, 0, 1);
    struct pcollect_arena_header *h = m.arena.header;
    size_t n = h->used_bytes;
    h->version++;
    assert_int_equal(pc_merge_arena(m.arena.base, n, PC_MERGE_ALL, &p, &error), PC_EVERSION);
    char version[20];
    snprintf(version, sizeof version, "version %u", PCOLLECT_ARENA_VERSION);
    assert_non_null(strstr(error.text, version));
    h->version--;
    h->byte_order = 0x04030201;
    assert_int_equal(pc_merge_arena(m.arena.base, n, PC_MERGE_ALL, &p, &error), PC_EFORMAT);
    assert_non_null(strstr(error.text, "byte order"));
    h->byte_order = PCOLLECT_BYTE_ORDER;
    h->magic[0] = 'p';
    assert_int_equal(pc_merge_arena(m.arena.base, n, PC_MERGE_ALL, &p, &error), PC_EFORMAT);
    assert_null(p);
    pc_arena_close(&m.arena);
}

/* ---- Killed writers -------------------------------------------------------------------------- */

static void write_for_ever(const char *spool, int tell)
{
    struct made m;
    struct making how = {
        .n_ranks = 1, .spool = spool, .bytes = (size_t)8 << 20, .all_kinds = true, .tables = true};
    static const struct shape wide = {"wide", 300, 12, 100000, false, 1000, true, true, 0};
    made_open(&m, &how);
    if (write(tell, m.arena.path, strlen(m.arena.path) + 1) < 0)
        _exit(1);
    for (uint64_t seed = 0;; seed++) {
        unsigned n;
        struct fact *facts = random_facts(&wide, seed, 0, &n);
        how.seed = seed;
        made_book(&m, &how, facts, n);
        free(facts);
    }
}

static void must_not_say(void *arg, const char *line)
{
    (void)arg;
    fail_msg("said: %s", line);
}

static void arena_of_a_writer_killed_anywhere_is_whole(void **state)
{
    (void)state;
    char spool[64] = "/dev/shm/pcollect-damage-XXXXXX", path[PCOLLECT_PATH_BYTES];
    unsigned n_contexts = 0;
    if (!mkdtemp(spool)) {
        print_message("# no /dev/shm\n");
        skip();
    }
    /* Kills later if writers are slow. */
    for (unsigned i = 0; i < rounds(25) || (n_contexts <= 100 && i < rounds(500)); i++) {
        int tell[2];
        assert_int_equal(pipe(tell), 0);
        pid_t pid = fork();
        if (!pid)
            write_for_ever(spool, tell[1]);
        close(tell[1]);
        ssize_t n = read(tell[0], path, sizeof path);
        usleep((useconds_t)(pc_hash_u64(i) % 20000 * (1 + i / 25)));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(tell[0]);
        if (n > 1) { /* a file: /dev/shm is a memory file system */
            struct pc_profile *p = NULL;
            char *paths[1] = {path};
            assert_int_equal(pc_merge_files(paths, 1, &p, must_not_say, NULL, NULL), PC_OK);
            n_contexts += p->n_data;
            pc_profile_free(p);
            unlink(path);
        }
    }
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", spool);
    assert_int_equal(system(command), 0);
    if (path[0])
        assert_true(n_contexts > 100);
}

/* ---- Profiles and .pcol files ---------------------------------------------------------------- */

/* The sum of damaged bytes, decoded as the reduction does, and of a profile: records and rows of
 * tables are checked then at the latest. */
static bool add_packed(const uint8_t *data, size_t n, const struct pc_profile *other)
{
    struct pc_profile *p, *sum, *back;
    struct pc_error error = {""};
    uint8_t *copy = malloc(n ? n : 1);
    memcpy(copy, data, n);
    if (pc_profile_decode_packed(copy, n, &p, NULL))
        return false;
    int err = pc_profile_merge(p, other, &sum, &error);
    pc_profile_free(p);
    if (err) {
        assert_int_not_equal(error.text[0], 0);
        return false;
    }
    uint8_t *bytes;
    size_t n_bytes;
    assert_int_equal(pc_profile_encode(sum, &bytes, &n_bytes), PC_OK);
    if (pc_profile_decode(bytes, n_bytes, &back, &error))
        fail_msg("a sum that is not valid: %s", error.text);
    pc_profile_free(back);
    pc_profile_free(sum);
    free(bytes);
    return true;
}

/* The bytes of two ranks, with values or, as in the reduction, without. */
static struct pc_buffer bytes_of_two(const struct shape *shape, bool with_values)
{
    struct pc_profile *sum, *p = random_profile(shape, 3, 0, 3),
                            *q = random_profile(shape, 3, 1, 3);
    struct pc_buffer out = {0};
    assert_int_equal(pc_profile_merge(p, q, &sum, NULL), PC_OK);
    if (!with_values)
        pc_lists_drop(sum);
    assert_int_equal(pc_profile_encode(sum, &out.data, &out.n), PC_OK);
    pc_profile_free(p);
    pc_profile_free(q);
    pc_profile_free(sum);
    return out;
}

static void changed_bytes_never_crash_the_decoder(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < n_shapes; shape++) {
        const struct pc_buffer sent[2] = {bytes_of_two(&shapes[shape], false),
                                          bytes_of_two(&shapes[shape], true)};
        struct pc_profile *other = random_profile(&shapes[shape], 3, 2, 3), *p;
        unsigned n_sums = 0;
        for (unsigned i = 0; i < rounds(3000); i++) {
            struct rng r = {test_seed(shape * 7919u + i)};
            const struct pc_buffer *b = &sent[i % 2];
            size_t kept = rng_below(&r, 4) ? b->n : rng_below(&r, b->n);
            uint8_t *copy = malloc(kept + 1);
            memcpy(copy, b->data, kept);
            for (uint64_t k = 1 + rng_below(&r, 3); k && kept; k--)
                copy[rng_below(&r, kept)] = (uint8_t)(rng_below(&r, 3) ? rng_next(&r) : 0xff);
            uint8_t *exact = realloc(copy, kept ? kept : 1);
            struct pc_error error;
            p = NULL;
            if (!pc_profile_decode(exact, kept, &p, &error))
                assert_int_equal(pc_profile_check(p, NULL), PC_OK);
            else
                assert_null(p);
            pc_profile_free(p);
            n_sums += add_packed(exact, kept, other);
            free(exact);
        }
        assert_true(n_sums);
        pc_profile_free(other);
        free(sent[0].data);
        free(sent[1].data);
    }
}

static void files_with_right_checksums_and_wrong_content_never_crash_the_reader(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/x.pcol", folder);
    struct pc_profile *p = random_profile(&shapes[7], 4, 0, 2);
    assert_int_equal(pc_pcol_write(p, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
    assert_int_equal(pc_pcol_write_late(path, p, true, NULL), PC_OK);
    pc_profile_free(p);
    static uint8_t data[1 << 16], copy[sizeof data];
    FILE *f = fopen(path, "r");
    size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    assert_in_range(n, 1000, sizeof data - 1);
    for (unsigned i = 0; i < rounds(3000); i++) {
        struct rng r = {test_seed(i)};
        size_t bytes = rng_below(&r, 10) ? n : rng_below(&r, n) + 64;
        memcpy(copy, data, sizeof copy);
        /* Headers of file and sections are short: every second change is in the first one. */
        size_t most = rng_below(&r, 2) ? 96 : bytes;
        for (uint64_t k = 1 + rng_below(&r, 2); k; k--)
            copy[8 + rng_below(&r, most - 8)] =
                (uint8_t)(rng_below(&r, 2) ? rng_below(&r, 16) : rng_next(&r));
        mend_checksums(copy, bytes);
        f = fopen(path, "w");
        fwrite(copy, 1, bytes, f);
        fclose(f);
        struct pc_error error;
        p = NULL;
        if (pc_pcol_read(path, &p, &error))
            assert_int_not_equal(error.text[0], 0);
        else
            assert_int_equal(pc_profile_check(p, NULL), PC_OK);
        pc_profile_free(p);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_bytes_never_crash_the_reader),
        cmocka_unit_test(truncation_anywhere_is_refused_or_marked),
        cmocka_unit_test(circles_and_shared_tails_are_counted_once),
        cmocka_unit_test(fields_of_impossible_number_are_refused),
        cmocka_unit_test(a_note_of_damage_in_the_header_is_not_believed),
        cmocka_unit_test(other_layouts_are_refused_by_name),
        cmocka_unit_test(arena_of_a_writer_killed_anywhere_is_whole),
        cmocka_unit_test(changed_bytes_never_crash_the_decoder),
        cmocka_unit_test(files_with_right_checksums_and_wrong_content_never_crash_the_reader),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
