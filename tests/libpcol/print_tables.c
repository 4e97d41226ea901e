/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A user of libpcol, built with the installed header alone: writes each table of a profile to
 * FOLDER/NAME.tsv as `pcollect report --table NAME` does, from the given number of threads, each
 * with its own handle. Arguments: PROFILE FOLDER [THREADS]; thread i > 0 writes to FOLDER.i. Sums
 * by keys go to sums/.
 */
#include <pcollect/profile.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path, *folder;

/* Two functions that return the same number must agree. */
static void check_number(const struct pcol_table *t, const struct pcol_column *c,
                         struct pcol_value v)
{
    double unit = c->type == PCOL_SECONDS ? 1e9 : c->type == PCOL_PERCENT ? 1000 : 1;
    if (c->type == PCOL_TEXT || c->type == PCOL_REAL || v.whole == INT64_MAX)
        return;
    if (fabs(v.number * unit - (double)v.whole) > 1e-6 * fabs((double)v.whole) + 1e-3)
        printf("%s.%s: %.17g is not %" PRId64 "\n", pcol_table_name(t), c->name, v.number, v.whole);
}

static void put_scaled(FILE *out, int64_t whole, int64_t unit, int digits)
{
    int64_t size = whole < 0 ? -whole : whole;
    fprintf(out, "%s%" PRId64 ".%0*" PRId64, whole < 0 ? "-" : "", size / unit, digits,
            size % unit);
}

static void put_cell(FILE *out, const struct pcol_table *t, size_t row, size_t column)
{
    const struct pcol_column *c = pcol_table_column(t, column);
    struct pcol_value v = pcol_table_value(t, row, column);
    if (c && !v.known && c->type == PCOL_TEXT && v.text)
        printf("%s.%s: what is not known has the text %s\n", pcol_table_name(t), c->name, v.text);
    if (!c || !v.known)
        return;
    check_number(t, c, v);
    switch (c->type) {
    case PCOL_TEXT:
        fputs(v.text, out);
        break;
    case PCOL_SECONDS:
        put_scaled(out, v.whole, 1000000000, 9);
        break;
    case PCOL_PERCENT:
        put_scaled(out, v.whole, 1000, 3);
        break;
    case PCOL_YES_NO:
        fputs(v.whole ? "yes" : "no", out);
        break;
    case PCOL_REAL:
        fprintf(out, "%.9g", v.number);
        break;
    default:
        fprintf(out, "%" PRId64, v.whole);
    }
}

static void put_table(const struct pcol_table *t, const char *where, const char *as)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%s.tsv", where, as);
    FILE *out = fopen(name, "w");
    if (!out) {
        perror(name);
        exit(1);
    }
    size_t n_columns = pcol_table_columns(t), n_rows = pcol_table_rows(t);
    for (size_t k = 0; k < n_columns; k++) {
        const struct pcol_column *c = pcol_table_column(t, k);
        if (pcol_table_find(t, c->name) != (int)k)
            printf("%s: column %zu is not found by its name\n", pcol_table_name(t), k);
        fprintf(out, "%s%s", k ? "\t" : "", c->name);
    }
    fputc('\n', out);
    for (size_t row = 0; row < n_rows; row++)
        for (size_t k = 0; k < n_columns; k++) {
            put_cell(out, t, row, k);
            fputc(k + 1 < n_columns ? '\t' : '\n', out);
        }
    if (pcol_table_value(t, n_rows, 0).known || pcol_table_value(t, 0, n_columns).known)
        printf("%s: a cell outside of the table is known\n", pcol_table_name(t));
    fclose(out);
}

/* Writes sums by each key alone to sums/BIT.tsv, and by some combinations. */
static void put_sums(struct pcol_profile *p)
{
    char name[16];
    for (unsigned bit = 0; PCOL_BY_FUNCTION << bit <= PCOL_BY_RANK; bit++) {
        snprintf(name, sizeof name, "%u", bit);
        put_table(pcol_sums(p, PCOL_BY_FUNCTION << bit), "sums", name);
        if (pcol_sums(p, PCOL_BY_FUNCTION << bit) != pcol_sums(p, PCOL_BY_FUNCTION << bit))
            printf("sums are made twice\n");
    }
    put_table(pcol_sums(p, PCOL_BY_FUNCTION | PCOL_BY_PRIMITIVE | PCOL_BY_RANK), "sums", "three");
    if (pcol_sums(p, 0) || pcol_sums(p, PCOL_BY_RANK << 1))
        printf("sums by nothing, or by what is not there\n");
}

/* Without values of ranks, a number of ranks is the same or not known. */
static void compare_statistics(struct pcol_profile *p)
{
    struct pcol_profile *statistics = pcol_open(path, PCOL_STATISTICS, NULL);
    const struct pcol_table *t, *other;
    for (size_t k = 0; (t = pcol_table_at(p, k)) && (other = pcol_table_at(statistics, k)); k++) {
        int ranks = pcol_table_find(t, "ranks");
        for (size_t row = 0; ranks >= 0 && row < pcol_table_rows(other); row++) {
            struct pcol_value all = pcol_table_value(t, row, (size_t)ranks),
                              v = pcol_table_value(other, row, (size_t)ranks);
            if (v.known && v.whole != all.whole)
                printf("%s: %d ranks in row %zu, by statistics %d\n", pcol_table_name(t),
                       (int)all.whole, row, (int)v.whole);
        }
    }
    pcol_close(statistics);
}

static void *put_all(void *number)
{
    char where[4000];
    struct pcol_error why;
    size_t i = (size_t)number;
    snprintf(where, sizeof where, i ? "%s.%zu" : "%s", folder, i);
    struct pcol_profile *p = pcol_open(path, PCOL_HISTOGRAMS, &why);
    if (!p) {
        fprintf(stderr, "status %d: %s\n", (int)why.status, why.text);
        exit(3);
    }
    const struct pcol_table *t;
    for (size_t k = 0; (t = pcol_table_at(p, k)); k++) {
        if (pcol_table(p, pcol_table_name(t)) != t)
            printf("%s: not found by its name\n", pcol_table_name(t));
        put_table(t, where, pcol_table_name(t));
    }
    if (!i) {
        put_sums(p);
        compare_statistics(p);
    }
    const char *warning;
    for (size_t k = 0; !i && (warning = pcol_warning(p, k)); k++)
        fprintf(stderr, "%s\n", warning);
    pcol_close(p);
    return NULL;
}

int main(int argc, char **argv)
{
    struct pcol_error why;
    pthread_t threads[64];
    size_t n = argc > 3 ? (size_t)atoi(argv[3]) : 1;
    if (argc < 3 || n < 1 || n > 64)
        return 2;
    path = argv[1];
    folder = argv[2];
    if (pcol_open(path, 1u << 30, &why) || why.status != PCOL_INVALID_FLAG ||
        pcol_open(path, PCOL_STATISTICS | PCOL_HISTOGRAMS, NULL) || pcol_open("/", 0, NULL))
        printf("a flag that is not there, or a folder, is opened\n");
    for (size_t i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, put_all, (void *)i))
            return 1;
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
