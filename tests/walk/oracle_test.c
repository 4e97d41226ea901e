/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rule of every row of every unwind table entry of the system's libraries equals that printed
 * by readelf. Libraries are mapped by the test itself, not loaded: no code of theirs runs. Files
 * named on the command line, or in PCOLLECT_TEST_TABLES with colons between them, are checked too
 * (without a bound for rows that no rule can express).
 */
#define _GNU_SOURCE 1

#include "libcollect/walk/walk_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__

/* Rows that no rule can express, by kind. */
enum kind { KIND_RA_REGISTER, KIND_SP_ELSEWHERE, KIND_EXPRESSION, N_KINDS };
static const char *const kind_names[N_KINDS] = {"return address in a register", "sp is not the CFA",
                                                "expression"};

struct library {
    const char *soname;
    int max_unexpressed; /* rows; -1: any number */
    int min_rows;        /* with fewer rows the test has read nothing */
};

static const struct library libraries[] = {
    {"libc.so.6", 20, 10000},      {"ld-linux-x86-64.so.2", 4, 1000}, {"libstdc++.so.6", 0, 10000},
    {"libmpi.so.40", 0, 5000},     {"libmpich.so.12", 0, 100000},     {"libm.so.6", 0, 500},
    {"libgfortran.so.5", 0, 5000}, {"libopen-pal.so.40", 0, 5000},
};

/* ---- A file, mapped as the loader would ------------------------------------------------------ */

struct image {
    struct pc_cfi_image cfi;
    uintptr_t bias;
    void *memory;
    size_t n_bytes;
};

static bool map_image(const char *path, struct image *im)
{
    memset(im, 0, sizeof *im);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf64_Ehdr ehdr;
    Elf64_Phdr phdr[64];
    if (fd < 0)
        return false;
    if (read(fd, &ehdr, sizeof ehdr) != sizeof ehdr || ehdr.e_phnum > 64 ||
        pread(fd, phdr, ehdr.e_phnum * sizeof *phdr, (off_t)ehdr.e_phoff) < 0) {
        close(fd);
        return false;
    }
    for (int i = 0; i < ehdr.e_phnum; i++) {
        if (phdr[i].p_type == PT_LOAD)
            im->n_bytes = phdr[i].p_vaddr + phdr[i].p_memsz;
    }
    im->memory = mmap(NULL, im->n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    im->bias = (uintptr_t)im->memory;
    for (int i = 0; i < ehdr.e_phnum; i++) {
        const Elf64_Phdr *p = &phdr[i];
        uintptr_t at = im->bias + p->p_vaddr;
        if (p->p_type == PT_GNU_EH_FRAME)
            im->cfi.hdr = (const uint8_t *)at;
        if (p->p_type != PT_LOAD)
            continue;
        assert_int_equal(pread(fd, (void *)at, p->p_filesz, (off_t)p->p_offset), p->p_filesz);
        assert_true(im->cfi.n_segments < PC_CFI_MAX_SEGMENTS);
        im->cfi.segments[im->cfi.n_segments++] = (struct pc_cfi_segment){at, at + p->p_memsz};
    }
    close(fd);
    return im->cfi.hdr != NULL;
}

/* ---- Output of readelf ----------------------------------------------------------------------- */

/* Expressions of one entry, as `readelf --debug-dump=frames` prints them. */
struct entry_text {
    unsigned long offset;
    char *text;
};

struct texts {
    struct entry_text *entries;
    size_t n, room;
};

/* Numbers of the columns of these registers in the interpreted dump; -1: there is none. */
struct columns {
    int rsp, rbp, ra;
};

struct row {
    uintptr_t lo, hi; /* link addresses */
    char cfa[24], rsp[24], rbp[24], ra[24];
};

struct count {
    long rows, unexpressed[N_KINDS], wrong;
};

struct check {
    struct image image;
    struct texts texts;
    struct count count;
    unsigned long entry, cie;
    struct row row; /* if pending, its end is not known yet */
    bool pending;
    struct columns columns;
};

static FILE *run_readelf(const char *what, const char *path)
{
    char command[4200];
    snprintf(command, sizeof command, "LC_ALL=C readelf --debug-dump=%s '%s' 2>/dev/null", what,
             path);
    return popen(command, "r");
}

/* Tracks whether the dump is in the section .eh_frame of the file itself. */
static void follow_section(const char *line, bool *inside)
{
    if (strstr(line, "Contents of the "))
        *inside = strstr(line, "Contents of the .eh_frame section") && !strstr(line, ".debug");
}

static void load_texts(const char *path, struct texts *t)
{
    FILE *f = run_readelf("frames", path);
    char line[8192];
    bool inside = false;
    memset(t, 0, sizeof *t);
    while (fgets(line, sizeof line, f)) {
        unsigned long offset, n, id;
        follow_section(line, &inside);
        if (!inside)
            continue;
        if (sscanf(line, "%lx %lx %lx %*[CFDI]E", &offset, &n, &id) == 3) {
            if (t->n == t->room)
                t->entries = realloc(t->entries, (t->room += 1 << 16) * sizeof *t->entries);
            t->entries[t->n++] = (struct entry_text){offset, NULL};
        } else if (t->n && strstr(line, "expression")) {
            struct entry_text *e = &t->entries[t->n - 1];
            char *joined = NULL;
            assert_true(asprintf(&joined, "%s%s", e->text ? e->text : "", line) > 0);
            free(e->text);
            e->text = joined;
        }
    }
    pclose(f);
}

static const char *text_of(const struct texts *t, unsigned long offset)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (t->entries[mid].offset < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->n && t->entries[lo].offset == offset && t->entries[lo].text ? t->entries[lo].text
                                                                               : "";
}

static void free_texts(struct texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->entries[i].text);
    free(t->entries);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* True if the entry or its CIE has this line. */
static bool has_line(const struct check *c, const char *line)
{
    return strstr(text_of(&c->texts, c->entry), line) || strstr(text_of(&c->texts, c->cie), line);
}

#define PLT_CFA                                                                                    \
    "DW_CFA_def_cfa_expression (DW_OP_breg7 (rsp): 8; DW_OP_breg16 (rip): 0; DW_OP_lit15; "        \
    "DW_OP_and; DW_OP_lit11; DW_OP_ge; DW_OP_lit3; DW_OP_shl; DW_OP_plus)"

static bool cfa_expression_agrees(const struct check *c, const struct pc_rule *r, uintptr_t pc)
{
    char line[200];
    bool by_fp = r->cfa == PC_CFA_FP_DEREF;
    if (r->cfa == PC_CFA_SP)
        return has_line(c, PLT_CFA) && r->cfa_off == ((pc & 15) >= 11 ? 16 : 8);
    int n = snprintf(line, sizeof line, "DW_CFA_def_cfa_expression (DW_OP_%s: %d; DW_OP_deref",
                     by_fp ? "breg6 (rbp)" : "breg7 (rsp)", r->cfa_off);
    if (r->deref_off)
        snprintf(line + n, sizeof line - (size_t)n, "; DW_OP_plus_uconst: %d)", r->deref_off);
    else
        snprintf(line + n, sizeof line - (size_t)n, ")");
    return (by_fp || r->cfa == PC_CFA_SP_DEREF) && has_line(c, line);
}

static bool loc_agrees(const struct check *c, const char *said, unsigned loc, int off,
                       const char *name)
{
    char text[200];
    if (!strcmp(said, "exp")) {
        snprintf(text, sizeof text, "DW_CFA_expression: %s (DW_OP_%s: %d)", name,
                 loc == PC_LOC_FP ? "breg6 (rbp)" : "breg7 (rsp)", off);
        return (loc == PC_LOC_FP || loc == PC_LOC_SP) && has_line(c, text);
    }
    snprintf(text, sizeof text, "c%+d", off);
    if (loc == PC_LOC_CFA)
        return !strcmp(said, text);
    return (loc == PC_LOC_SAME || loc == PC_LOC_UNDEFINED) &&
           (!strcmp(said, "u") || !strcmp(said, "s") || !said[0]);
}

/* The name of the register by which a CFA is computed. */
static const char *cfa_register(const struct pc_rule *r)
{
    static const char *const names[PC_N_REGISTERS] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                      "r12", "r13", "r14", "r15"};
    if (r->cfa == PC_CFA_REGISTER)
        return names[r->deref_off];
    return names[r->cfa == PC_CFA_FP ? PC_REG_FP : PC_REG_SP];
}

static bool agrees(const struct check *c, const struct pc_rule *r, uintptr_t pc)
{
    char cfa[40];
    const struct row *row = &c->row;
    bool direct = r->cfa <= PC_CFA_FP || r->cfa == PC_CFA_REGISTER;
    if (r->ra == PC_LOC_UNDEFINED)
        return !strcmp(row->ra, "u");
    snprintf(cfa, sizeof cfa, "%s%+d", cfa_register(r), r->cfa_off);
    bool cfa_good = !strcmp(row->cfa, "exp") ? cfa_expression_agrees(c, r, pc)
                                             : direct && !strcmp(row->cfa, cfa);
    bool sp_good = !row->rsp[0] || !strcmp(row->rsp, "u") || r->signal;
    return cfa_good && sp_good && loc_agrees(c, row->rbp, r->fp, r->fp_off, "r6 (rbp)") &&
           loc_agrees(c, row->ra, r->ra, r->ra_off, "r16 (rip)");
}

/* Kind of a row without a rule, from the output of readelf; N_KINDS if it should have a rule. */
static enum kind classify(const struct row *row)
{
    if (!strcmp(row->cfa, "exp") || !strcmp(row->ra, "exp"))
        return KIND_EXPRESSION;
    if (row->rsp[0] && strcmp(row->rsp, "u") != 0)
        return KIND_SP_ELSEWHERE;
    return row->ra[0] == 'c' || row->ra[0] == 'u' ? N_KINDS : KIND_RA_REGISTER;
}

static void check_at(struct check *c, uintptr_t pc)
{
    struct pc_rule rule;
    bool known = pc_cfi_rule(&c->image.cfi, c->image.bias + pc, &rule);
    if (known != (rule.cfa != PC_CFA_NONE))
        c->count.wrong++;
    enum kind kind = classify(&c->row);
    if (!known && kind != N_KINDS) {
        c->count.unexpressed[kind]++;
    } else if (!known || !agrees(c, &rule, pc)) {
        if (c->count.wrong++ < 10)
            fprintf(stderr,
                    "%#lx: readelf: cfa %s rsp %s rbp %s ra %s; rule: cfa %d %+d ra %d %+d fp %d "
                    "%+d\n",
                    (long)pc, c->row.cfa, c->row.rsp, c->row.rbp, c->row.ra, rule.cfa, rule.cfa_off,
                    rule.ra, rule.ra_off, rule.fp, rule.fp_off);
    }
}

static void finish_row(struct check *c, uintptr_t hi)
{
    if (c->pending && hi > c->row.lo) {
        c->count.rows++;
        check_at(c, c->row.lo);
        if (hi - 1 > c->row.lo)
            check_at(c, hi - 1);
    }
    c->pending = false;
}

static int split(char *line, char *fields[], int max)
{
    int n = 0;
    for (char *save, *f = strtok_r(line, " \n", &save); f && n < max;
         f = strtok_r(NULL, " \n", &save)) {
        if (f[0] != '(') /* "r10 (r10)" is one field */
            fields[n++] = f;
    }
    return n;
}

static void read_columns(struct columns *columns, char *fields[], int n)
{
    *columns = (struct columns){-1, -1, -1};
    for (int i = 0; i < n; i++) {
        if (!strcmp(fields[i], "rsp"))
            columns->rsp = i;
        else if (!strcmp(fields[i], "rbp"))
            columns->rbp = i;
        else if (!strcmp(fields[i], "ra"))
            columns->ra = i;
    }
}

static void copy_field(char out[24], char *fields[], int n, int at)
{
    snprintf(out, 24, "%s", at >= 0 && at < n ? fields[at] : "");
}

static void read_row(struct row *row, const struct columns *columns, char *fields[], int n)
{
    copy_field(row->cfa, fields, n, 1);
    copy_field(row->rsp, fields, n, columns->rsp);
    copy_field(row->rbp, fields, n, columns->rbp);
    copy_field(row->ra, fields, n, columns->ra);
}

/* The row of a CIE, which holds in an entry without rows of its own. */
struct cie_row {
    unsigned long offset;
    struct row row;
};

struct cies {
    struct cie_row *rows;
    size_t n, room;
};

static void remember_cie(struct cies *cies, unsigned long offset, const struct row *row)
{
    if (cies->n == cies->room)
        cies->rows = realloc(cies->rows, (cies->room += 4096) * sizeof *cies->rows);
    cies->rows[cies->n++] = (struct cie_row){offset, *row};
}

static void start_entry(struct check *c, const struct cies *cies, uintptr_t lo)
{
    for (size_t i = cies->n; i-- > 0;) {
        if (cies->rows[i].offset == c->cie) {
            c->row = cies->rows[i].row;
            c->row.lo = lo;
            c->pending = true;
            return;
        }
    }
}

static void check_dump(struct check *c, FILE *f)
{
    char line[1024], *fields[40];
    bool inside = false, in_cie = false;
    struct cies cies = {0};
    uintptr_t lo = 0, hi = 0;
    while (fgets(line, sizeof line, f)) {
        unsigned long entry, n, id;
        follow_section(line, &inside);
        char *at = strstr(line, " FDE cie=");
        if (!inside)
            continue;
        if (sscanf(line, "%lx %lx %lx", &entry, &n, &id) == 3 && (at || strstr(line, " CIE "))) {
            finish_row(c, hi);
            in_cie = !at;
            c->entry = entry;
            c->cie = entry;
            if (at && sscanf(at, " FDE cie=%lx pc=%lx..%lx", &c->cie, &lo, &hi) == 3)
                start_entry(c, &cies, lo);
            continue;
        }
        int n_fields = split(line, fields, 40);
        if (n_fields >= 2 && !strcmp(fields[0], "LOC")) {
            read_columns(&c->columns, fields, n_fields);
        } else if (n_fields >= 2 && strlen(fields[0]) == 16) {
            uintptr_t loc = strtoul(fields[0], NULL, 16);
            if (!in_cie)
                finish_row(c, loc);
            read_row(&c->row, &c->columns, fields, n_fields);
            c->row.lo = loc;
            c->pending = !in_cie;
            if (in_cie)
                remember_cie(&cies, c->entry, &c->row);
        }
    }
    finish_row(c, hi);
    free(cies.rows);
}

static struct count check_file(const char *path)
{
    struct check c = {0};
    if (!map_image(path, &c.image))
        fail_msg("%s cannot be read or has no unwind table", path);
    load_texts(path, &c.texts);
    FILE *f = run_readelf("frames-interp", path);
    check_dump(&c, f);
    pclose(f);
    free_texts(&c.texts);
    munmap(c.image.memory, c.image.n_bytes);
    fprintf(stderr, "%s: %ld rows", path, c.count.rows);
    for (int i = 0; i < N_KINDS; i++)
        fprintf(stderr, ", %s %ld", kind_names[i], c.count.unexpressed[i]);
    fprintf(stderr, ", wrong %ld\n", c.count.wrong);
    return c.count;
}

static void require_readelf(void)
{
    if (system("readelf --version >/dev/null 2>&1") != 0) {
        fprintf(stderr, "skipped: readelf (binutils) is not installed\n");
        skip();
    }
}

static void rules_of_a_library_equal_readelf(void **state)
{
    const struct library *lib = *state;
    static const char *const folders[] = {"/lib/x86_64-linux-gnu",
                                          "/usr/lib/x86_64-linux-gnu",
                                          "/lib64",
                                          "/usr/lib64",
                                          "/lib",
                                          "/usr/lib"};
    char path[256];
    require_readelf();
    for (size_t i = 0; i < PC_ARRAY_LEN(folders); i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], lib->soname);
        if (access(path, R_OK) != 0)
            continue;
        struct count count = check_file(path);
        long unexpressed = 0;
        for (int k = 0; k < N_KINDS; k++)
            unexpressed += count.unexpressed[k];
        assert_int_equal(count.wrong, 0);
        assert_true(count.rows >= lib->min_rows);
        assert_true(unexpressed <= lib->max_unexpressed);
        return;
    }
    fprintf(stderr, "skipped: %s is not installed\n", lib->soname);
    skip();
}

static void rules_of_files_that_are_named_equal_readelf(void **state)
{
    (void)state;
    const char *named = getenv("PCOLLECT_TEST_TABLES");
    if (!named) {
        fprintf(stderr, "skipped: PCOLLECT_TEST_TABLES names no files\n");
        skip();
    }
    require_readelf();
    char *files = strdup(named), *save, *path;
    for (path = strtok_r(files, ":", &save); path; path = strtok_r(NULL, ":", &save))
        assert_int_equal(check_file(path).wrong, 0);
    free(files);
}

static void rules_of_this_program_equal_readelf(void **state)
{
    (void)state;
    require_readelf();
    char path[4096] = "";
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    struct count count = check_file(path);
    assert_int_equal(count.wrong, 0);
    assert_true(count.rows > 100);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        long wrong = 0;
        for (int i = 1; i < argc; i++)
            wrong += check_file(argv[i]).wrong;
        return wrong != 0;
    }
    struct CMUnitTest tests[PC_ARRAY_LEN(libraries) + 2];
    char names[PC_ARRAY_LEN(libraries)][80];
    for (size_t i = 0; i < PC_ARRAY_LEN(libraries); i++) {
        snprintf(names[i], sizeof names[i], "rules_of_%s_equal_readelf", libraries[i].soname);
        tests[i] = (struct CMUnitTest){names[i], rules_of_a_library_equal_readelf, NULL, NULL,
                                       (void *)(uintptr_t)&libraries[i]};
    }
    tests[PC_ARRAY_LEN(libraries)] =
        (struct CMUnitTest)cmocka_unit_test(rules_of_this_program_equal_readelf);
    tests[PC_ARRAY_LEN(libraries) + 1] =
        (struct CMUnitTest)cmocka_unit_test(rules_of_files_that_are_named_equal_readelf);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void oracle(void **state)
{
    (void)state;
    fprintf(stderr, "skipped: register names are known for x86-64 only\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
