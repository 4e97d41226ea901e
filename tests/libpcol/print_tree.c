/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A user of libpcol, built with the installed header alone: writes the trees, the findings and the
 * symbols of a profile to FOLDER in the columns of the tables that the command prints of the same
 * things. Prints figures of the trees that contradict each other. Arguments: PROFILE FOLDER
 */
#include <pcollect/profile.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static FILE *open_table(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.tsv", folder, name);
    FILE *out = fopen(path, "w");
    if (!out)
        exit(1);
    return out;
}

static struct pcol_value metric(const struct pcol_tree *t, uint32_t node, const char *name)
{
    const struct pcol_table *m = pcol_tree_metrics(t);
    int column = pcol_table_find(m, name);
    if (column < 0)
        printf("there is no metric %s\n", name);
    return pcol_table_value(m, node, (size_t)column);
}

static void put_metric(FILE *out, const struct pcol_tree *t, uint32_t node, const char *name)
{
    const struct pcol_table *m = pcol_tree_metrics(t);
    const struct pcol_column *c = pcol_table_column(m, (size_t)pcol_table_find(m, name));
    struct pcol_value v = metric(t, node, name);
    fputc('\t', out);
    if (v.known && c->type == PCOL_SECONDS)
        fprintf(out, "%" PRId64 ".%09" PRId64, v.whole / 1000000000, v.whole % 1000000000);
    else if (v.known)
        fprintf(out, "%" PRId64, v.whole);
}

static void put_path(FILE *out, const struct pcol_tree *t, uint32_t node)
{
    const struct pcol_node *n = pcol_tree_node(t, node);
    if (!node)
        return;
    put_path(out, t, n->parent);
    fprintf(out, "%s%s", n->parent ? " > " : "", n->label);
}

static void put_text(FILE *out, const char *text)
{
    fprintf(out, "\t%s", text ? text : "");
}

/* ---- Trees as tables ------------------------------------------------------------------------- */

static void put_metrics(FILE *out, const struct pcol_tree *t, uint32_t node,
                        const char *const *names)
{
    for (; *names; names++)
        put_metric(out, t, node, *names);
}

static void put_computation(const struct pcol_tree *t)
{
    static const char *const names[] = {"samples",
                                        "cpu_exclusive_s",
                                        "cpu_inclusive_s",
                                        "inclusive_samples",
                                        "cpu_exclusive_error_s",
                                        "cpu_inclusive_error_s",
                                        NULL};
    FILE *out = open_table("computation");
    for (uint32_t i = 1; i < pcol_tree_nodes(t); i++)
        if (metric(t, i, "inclusive_samples").whole) {
            put_path(out, t, i);
            put_text(out, pcol_tree_node(t, i)->label);
            put_metrics(out, t, i, names);
            put_text(out, pcol_tree_node(t, i)->context);
            fputc('\n', out);
        }
    fclose(out);
}

static void put_contexts(const struct pcol_tree *t)
{
    static const char *const names[] = {
        "calls", "time_s", "bytes_sent", "bytes_received", "mpi_exclusive_s", "mean_s",   "min_s",
        "max_s", "ranks",  "rank_min_s", "min_rank",       "rank_max_s",      "max_rank", NULL};
    FILE *out = open_table("contexts");
    for (uint32_t i = 1; i < pcol_tree_nodes(t); i++) {
        const struct pcol_node *n = pcol_tree_node(t, i);
        if (n->kind != PCOL_MPI)
            continue;
        put_path(out, t, n->parent);
        put_text(out, n->function);
        put_metrics(out, t, i, names);
        put_text(out, n->context);
        fputc('\n', out);
    }
    fclose(out);
}

static void put_callers(const struct pcol_tree *t)
{
    static const char *const names[] = {"inclusive_samples", "cpu_inclusive_s",
                                        "cpu_inclusive_error_s", NULL};
    FILE *out = open_table("sample_callers");
    for (uint32_t i = 1; i < pcol_tree_nodes(t); i++)
        if (metric(t, i, "inclusive_samples").whole) {
            put_path(out, t, i);
            put_text(out, pcol_tree_node(t, i)->label);
            put_metrics(out, t, i, names);
            fputc('\n', out);
        }
    fclose(out);
}

/* ---- What holds in every tree ---------------------------------------------------------------- */

static void check_links(const char *shape, const struct pcol_tree *t, uint32_t node)
{
    const struct pcol_node *n = pcol_tree_node(t, node);
    const char *sums[][2] = {{"calls", "inclusive_calls"},
                             {"bytes_sent", "inclusive_bytes_sent"},
                             {"samples", "inclusive_samples"},
                             {"cpu_exclusive_s", "cpu_inclusive_s"}};
    if ((n->kind == PCOL_ROOT) != !node || (node && n->parent >= node) || !n->label)
        printf("%s: node %" PRIu32 " has no place\n", shape, node);
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
        int64_t sum = metric(t, node, sums[k][0]).whole;
        for (uint32_t i = n->first_child; i != PCOL_NO_NODE; i = pcol_tree_node(t, i)->next) {
            sum += metric(t, i, sums[k][1]).whole;
            if (pcol_tree_node(t, i)->parent != node)
                printf("%s: node %" PRIu32 " is no child of %" PRIu32 "\n", shape, i, node);
        }
        if (metric(t, node, sums[k][1]).whole != sum)
            printf("%s: node %" PRIu32 ": %s is not what is below it\n", shape, node, sums[k][1]);
    }
}

/* The roots of all trees have the same sum. */
static void check_tree(struct pcol_profile *p, const char *name, enum pcol_shape shape)
{
    static const char *const names[] = {"inclusive_calls",   "inclusive_bytes_sent",
                                        "inclusive_samples", "cpu_inclusive_s",
                                        "computation_s",     NULL};
    const struct pcol_tree *t = pcol_tree(p, shape), *first = pcol_tree(p, PCOL_TREE_FUNCTIONS);
    if (!t || pcol_tree(p, shape) != t || pcol_tree_node(t, pcol_tree_nodes(t)))
        printf("%s: is no tree\n", name);
    for (uint32_t i = 0; i < pcol_tree_nodes(t); i++)
        check_links(name, t, i);
    for (size_t k = 0; names[k]; k++)
        if (metric(t, 0, names[k]).whole != metric(first, 0, names[k]).whole)
            printf("%s: the sum of %s is another\n", name, names[k]);
}

/* ---- Findings and symbols -------------------------------------------------------------------- */

static void put_findings(struct pcol_profile *p)
{
    FILE *out = open_table("findings");
    const struct pcol_finding *f;
    for (size_t i = 0; (f = pcol_finding(p, i)); i++) {
        fprintf(out, "%s\t%.3f\t%s\t%s\t%s\t", f->rule, f->saves * 100, f->sentence, f->evidence,
                f->context ? f->context : "");
        fprintf(out, f->rank < 0 ? "\n" : "%d\n", f->rank);
        if (!f->meaning || !*f->meaning || f->threshold < 0 || f->threshold > 1)
            printf("%s: is no rule\n", f->rule);
    }
    fclose(out);
}

/* In the columns of the table `symbols` that `pcollect embed` stores, except the build-id. */
static void put_symbols(struct pcol_profile *p)
{
    FILE *out = open_table("symbols");
    const struct pcol_address *a;
    for (size_t i = 0; (a = pcol_address(p, i)); i++)
        for (size_t k = 0; k < a->n_frames; k++) {
            const struct pcol_frame *f = &a->frames[k];
            fprintf(out, "%" PRIu64 "\t%zu\t%s\t%s\t%" PRIu32 "\t%d\n",
                    a->offset + (a->sampled != 0), k, f->function ? f->function : "",
                    f->file ? f->file : "", f->line, f->inlined);
        }
    fclose(out);
}

static void put_source(struct pcol_profile *p)
{
    const struct pcol_table *t = pcol_table(p, "source_lines");
    FILE *out = open_table("source");
    for (size_t row = 0; row < pcol_table_rows(t); row++) {
        const char *file = pcol_table_value(t, row, 0).text;
        size_t line = (size_t)pcol_table_value(t, row, 1).whole;
        const char *text = pcol_source_line(p, file, line);
        fprintf(out, "%s\t%zu\t%s\n", file, line, text ? text : "?");
    }
    if (pcol_source_line(p, "no such file", 1) || pcol_source_line(p, NULL, 1))
        printf("a source that is not stored has lines\n");
    fclose(out);
}

int main(int argc, char **argv)
{
    static const char servers[] = "http://127.0.0.1:1"; /* where none is */
    setenv("DEBUGINFOD_URLS", servers, 1);
    struct pcol_error why;
    struct pcol_profile *p = argc > 2 ? pcol_open(argv[1], 0, &why) : NULL;
    if (!p)
        return 2;
    folder = argv[2];
    check_tree(p, "functions", PCOL_TREE_FUNCTIONS);
    check_tree(p, "calls", PCOL_TREE_CALLS);
    check_tree(p, "lines", PCOL_TREE_LINES);
    check_tree(p, "callers", PCOL_TREE_CALLERS);
    put_computation(pcol_tree(p, PCOL_TREE_FUNCTIONS));
    put_contexts(pcol_tree(p, PCOL_TREE_LINES));
    put_callers(pcol_tree(p, PCOL_TREE_CALLERS));
    put_findings(p);
    put_symbols(p);
    put_source(p);
    /* Missing values are empty. */
    if (pcol_tree(p, (enum pcol_shape)99) || pcol_tree_nodes(NULL) || pcol_tree_metrics(NULL) ||
        pcol_tree_node(NULL, 0) || pcol_table_rows(NULL) || pcol_table_columns(NULL) ||
        pcol_table_column(NULL, 0) || pcol_table_find(NULL, "calls") != -1 ||
        pcol_table_value(NULL, 0, 0).known)
        printf("a tree or a table that is not there has something\n");
    const char *left = getenv("DEBUGINFOD_URLS");
    if (!left || strcmp(left, servers) != 0)
        printf("DEBUGINFOD_URLS was changed\n");
    if (pcol_status(p) != PCOL_OK)
        printf("status %d\n", (int)pcol_status(p));
    pcol_close(p);
    return 0;
}
