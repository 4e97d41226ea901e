/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings as sentences for people. What is found and how it is worded is analysis/findings.
 */
#include "view/report_print.h"
#include "view/sentence.h"

void pct_findings_print(FILE *out, const struct pct_findings *f, const char *file, size_t width)
{
    size_t n = !f ? 0 : f->n < PCT_FINDINGS_SHOWN ? f->n : PCT_FINDINGS_SHOWN;
    if (!n)
        return;
    fputs("\nFindings\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %zu. ", i + 1);
        pct_print_sentence(out, width, 5, "%s", f->list[i].text);
        fprintf(out, "     [%s] pcollect report %s %s\n", f->list[i].rule, f->list[i].more, file);
    }
    if (f->n > n)
        fprintf(out, "  and %zu more of less weight\n", f->n - n);
}
