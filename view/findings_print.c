/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings as sentences for people. What is found and how it is worded is analysis/findings.
 */
#include "base/wrap.h"
#include "view/report_print.h"

/* In lines of at most `width` columns, 0: one line. */
static void print_wrapped(FILE *out, const char *text, size_t width)
{
    enum { INDENT = 5 };
    size_t room = !width ? 0 : width > INDENT ? width - INDENT : 1;
    for (const char *rest; *text; text = rest) {
        size_t n = pc_wrap(text, room, &rest);
        fprintf(out, "%.*s\n%*s", (int)n, text, *rest ? INDENT : 0, "");
    }
}

void pct_findings_print(FILE *out, const struct pct_findings *f, const char *file, size_t width)
{
    size_t n = !f ? 0 : f->n < PCT_FINDINGS_SHOWN ? f->n : PCT_FINDINGS_SHOWN;
    if (!n)
        return;
    fputs("\nFindings\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %zu. ", i + 1);
        print_wrapped(out, f->list[i].text, width);
        fprintf(out, "     [%s] pcollect report %s %s\n", f->list[i].rule, f->list[i].more, file);
    }
    if (f->n > n)
        fprintf(out, "  and %zu more of less weight\n", f->n - n);
}
