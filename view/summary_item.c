/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Items of the head: a name and a text, which continues in the column where it begins.
 */
#include "view/summary_private.h"

#include <string.h>
#include <time.h>

/* Number of cells of a word; control sequences take none. */
static size_t word_cells(const char *word, size_t n)
{
    size_t cells = 0;
    for (size_t i = 0; i < n; i++) {
        if (word[i] == '\033')
            i += strcspn(word + i, "m");
        else
            cells += ((uint8_t)word[i] & 0xc0) != 0x80;
    }
    return cells;
}

void pct_head_item(const struct pct_head *h, const char *name, const char *text)
{
    enum { INDENT = 14 };
    size_t at = INDENT, width = h->o->width ? h->o->width : SIZE_MAX;
    fprintf(h->out, "  %s%-12s%s", pct_style(h->o, PCT_STYLE_DIM), name,
            pct_style(h->o, PCT_STYLE_PLAIN));
    while (*text) {
        size_t n = strcspn(text, " "), cells = word_cells(text, n) + 1;
        if (at + cells > width && at > INDENT) {
            fprintf(h->out, "\n%*s", INDENT, "");
            at = INDENT;
        }
        fprintf(h->out, " %.*s", (int)n, text);
        at += cells;
        text += n + (text[n] == ' ');
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

void pct_head_moment(struct pct_buf *b, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char text[64];
    if (seconds && localtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm))
        pct_buf_text(b, text);
}
