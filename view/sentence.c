/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sentences in lines of a width: see sentence.h.
 */
#include "view/sentence.h"

#include "base/wrap.h"

#include <time.h>

void pct_print_sentence(FILE *out, size_t width, int indent, const char *format, ...)
{
    struct pct_buf b = {0};
    va_list args;
    va_start(args, format);
    pct_buf_vformat(&b, format, args);
    va_end(args);
    size_t taken = (size_t)indent, room = !width ? 0 : width > taken ? width - taken : 1;
    const char *text = b.data;
    for (const char *rest; text && *text; text = rest) {
        size_t n = pc_wrap(text, room, &rest);
        fprintf(out, "%.*s\n%*s", (int)n, text, *rest ? indent : 0, "");
    }
    pct_buf_free(&b);
}

void pct_print_run(struct pct_buf *b, long long first, long long last, const char *between)
{
    pct_buf_format(b, "%lld", first);
    if (last > first)
        pct_buf_format(b, "%s%lld", last - first > 1 ? "-" : between, last);
}

size_t pct_print_set(struct pct_buf *b, const int *numbers, size_t n, const char *between,
                     size_t most)
{
    size_t i = 0;
    for (size_t shown = 0; i < n && shown < most; shown++) {
        size_t end = i + 1;
        while (end < n && numbers[end] == numbers[end - 1] + 1)
            end++;
        pct_buf_text(b, i ? between : "");
        pct_print_run(b, numbers[i], numbers[end - 1], between);
        i = end;
    }
    return i;
}

void pct_print_moment(struct pct_buf *b, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char text[64];
    if (seconds && localtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm))
        pct_buf_text(b, text);
}
