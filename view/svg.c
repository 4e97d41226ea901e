/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The frame of pictures in SVG. topology_svg.c and scale_svg.c draw in it.
 */
#include "view/svg.h"

void pct_svg_begin(FILE *out, int width, int height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height);
}

void pct_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void pct_markup_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
    }
}

void pct_svg_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    pct_markup_text(out, text);
    fputs("</text>\n", out);
}
