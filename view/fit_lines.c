/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text with as many details as there is room for: see fit_lines.h. Prints to a stream that counts
 * lines before it prints to the real one.
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

static void close_counter(void *counter)
{
    fclose(counter);
}

unsigned pct_fitting_share(size_t n_lines, pct_shares_fn *print, void *arg)
{
    size_t lines, i = 0;
    do {
        lines = 0;
        FILE *counter = fopencookie(&lines, "w", (cookie_io_functions_t){.write = count_lines});
        if (!counter)
            break;
        pct_hold(counter, close_counter);
        print(arg, counter, shares[i]);
        pct_end(counter, close_counter);
    } while (lines > n_lines && ++i + 1 < PC_ARRAY_LEN(shares));
    return shares[i];
}

void pct_print_fitting(FILE *out, size_t n_lines, pct_shares_fn *print, void *arg)
{
    print(arg, out, pct_fitting_share(n_lines, print, arg));
}

void pct_print_hidden(FILE *out, unsigned least)
{
    if (least > PCT_LEAST_SHARE)
        fputs("  --min-percent 1 shows more\n", out);
}
