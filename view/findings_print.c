/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints findings as sentences. Findings and their words are made in analysis/findings.
 */
#include "view/report_print.h"
#include "view/sentence.h"

/* Prints the command on one line; if that is too wide, on two lines in shell syntax. */
static void put_command(FILE *out, const struct pct_finding *f, const char *file, size_t width)
{
    struct pct_buf line = {0}, word = {0}, shown = {0};
    pct_text_shell(&word, file);
    pct_text_escape(&shown, word.data, PCT_ESCAPE_CELL);
    pct_buf_format(&line, "     [%s] pcollect report %s", f->rule, f->more);
    bool wide = width && pct_text_cells(line.data) + 1 + pct_text_cells(shown.data) > width;
    fprintf(out, "%s %s%s\n", line.data, wide ? "\\\n         " : "", shown.data);
    pct_buf_free(&line);
    pct_buf_free(&word);
    pct_buf_free(&shown);
}

void pct_findings_print(FILE *out, const struct pct_findings *f, const char *file, size_t width)
{
    size_t n = !f ? 0 : f->n < PCT_FINDINGS_SHOWN ? f->n : PCT_FINDINGS_SHOWN;
    if (!n)
        return;
    fputs("\nFindings\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %zu. ", i + 1);
        pct_print_sentence(out, width, 5, "%s", f->list[i].text);
        put_command(out, &f->list[i], file, width);
    }
    if (f->n > n)
        fprintf(out, "  and %zu more of less weight\n", f->n - n);
}
