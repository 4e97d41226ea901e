/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Items of the head: a name and a text, which continues in the column where it begins.
 */
#include "base/wrap.h"
#include "view/summary_private.h"

#include <string.h>

void pct_head_item(const struct pct_head *h, const char *name, const char *text)
{
    enum { INDENT = 14 };
    size_t width = h->o->width, columns = width > INDENT + 1 ? width - INDENT - 1 : width;
    fprintf(h->out, "  %s%-12s%s", pct_style(h->o, PCT_STYLE_DIM), name,
            pct_style(h->o, PCT_STYLE_PLAIN));
    for (const char *line = text, *rest; *line; line = rest) {
        size_t n = pc_wrap(line, columns, &rest);
        fprintf(h->out, line > text ? "\n%*s %.*s" : "%*s %.*s", line > text ? INDENT : 0, "",
                (int)n, line);
    }
    fputc('\n', h->out);
}

void pct_head_put(const struct pct_head *h, const char *name, struct pct_buf *b)
{
    if (b->n)
        pct_head_item(h, name, b->data);
    pct_buf_clear(b);
}

void pct_head_time(struct pct_buf *b, pc_u128 ns)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_time(number, ns));
}

void pct_head_percent(struct pct_buf *b, pc_u128 m)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_percent_1(number, m));
}

void pct_head_count(struct pct_buf *b, pc_u128 n)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_count(number, n));
}
