/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Common parts of SVG pictures: a white background, a font, one blue, and escaped texts.
 */
#ifndef PCT_SVG_H
#define PCT_SVG_H

#include <stdio.h>

#define PCT_SVG_BLUE "#0b4f8a"

/* Begins a picture of this size, in pixels. */
void pct_svg_begin(FILE *out, int width, int height);
void pct_svg_end(FILE *out);

/* A text within an element of SVG or HTML: its characters are escaped. */
void pct_markup_text(FILE *out, const char *text);

/* A text that begins ("start"), ends ("end") or is centred at x; escapes its characters. */
void pct_svg_text(FILE *out, double x, double y, const char *anchor, const char *text);

#endif
