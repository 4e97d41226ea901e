/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text with as many details as there is room for: see fit_lines.h. Prints to a stream that counts
 * lines before it prints to the real one, or to one that leaves out the middle.
 */
#include "view/fit_lines.h"
#include "analysis/allocation.h"
#include "base/base.h"

#include <sys/types.h>

static const unsigned shares[] = {PCT_LEAST_SHARE, 2000,  3000,  5000, 7000,
                                  10000,           15000, 20000, 30000};

static ssize_t count_lines(void *lines, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        *(size_t *)lines += text[k] == '\n';
    return (ssize_t)n;
}

static void close_stream(void *stream)
{
    fclose(stream);
}

size_t pct_lines_of(pct_shares_fn *print, void *arg, unsigned least)
{
    size_t lines = 0;
    FILE *counter = fopencookie(&lines, "w", (cookie_io_functions_t){.write = count_lines});
    if (!counter)
        return 0;
    pct_hold(counter, close_stream);
    print(arg, counter, least);
    pct_end(counter, close_stream);
    return lines;
}

/* The share, and the number of lines that are printed with it. */
static unsigned find_share(size_t n_lines, pct_shares_fn *print, void *arg, size_t *lines)
{
    size_t i = 0;
    do
        *lines = pct_lines_of(print, arg, shares[i]);
    while (*lines > n_lines && ++i < PC_ARRAY_LEN(shares));
    return shares[i < PC_ARRAY_LEN(shares) ? i : i - 1];
}

unsigned pct_fitting_share(size_t n_lines, pct_shares_fn *print, void *arg)
{
    size_t lines;
    return find_share(n_lines, print, arg, &lines);
}

/* A stream that leaves out the lines from `first` up to `end`. */
struct gap {
    FILE *out;
    size_t line, first, end;
    unsigned least;
};

static ssize_t write_around(void *gap, const char *text, size_t n)
{
    struct gap *g = gap;
    bool one = g->end == g->first + 1;
    for (size_t k = 0; k < n; k++) {
        if (g->line < g->first || g->line >= g->end)
            fputc(text[k], g->out);
        g->line += text[k] == '\n';
        if (text[k] == '\n' && g->line == g->first)
            fprintf(g->out, "  (%zu %s left out: --min-percent %u shows %s)\n", g->end - g->first,
                    one ? "line" : "lines", g->least / 1000, one ? "it" : "them");
    }
    return (ssize_t)n;
}

void pct_print_fitting(FILE *out, size_t n_lines, pct_shares_fn *print, void *arg)
{
    size_t lines;
    unsigned least = find_share(n_lines, print, arg, &lines);
    struct gap gap = {out, 0, n_lines / 2, lines - n_lines / 2, least};
    FILE *around = lines <= 2 * n_lines
                       ? NULL
                       : fopencookie(&gap, "w", (cookie_io_functions_t){.write = write_around});
    if (!around) {
        print(arg, out, least);
        return;
    }
    pct_hold(around, close_stream);
    print(arg, around, least);
    pct_end(around, close_stream);
}

void pct_print_hidden(FILE *out, unsigned least)
{
    if (least > PCT_LEAST_SHARE)
        fputs("  --min-percent 1 shows more\n", out);
}
