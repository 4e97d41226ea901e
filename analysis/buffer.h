/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of the report: growing buffers, escapes, numbers with units, widths. Nothing here depends on
 * the locale, except pct_text_cut by its argument. No function fails: without memory the run ends
 * (allocation.h).
 */
#ifndef PCT_TEXT_H
#define PCT_TEXT_H

#include "analysis/allocation.h"
#include "base/base.h"
#include "format/profile.h"

#include <stdarg.h>

/* ---- Growing text. data is always terminated once something was put. ------------------------- */

struct pct_buf {
    char *data;
    size_t n, room;
};

void pct_buf_put(struct pct_buf *b, const char *text, size_t n);
void pct_buf_text(struct pct_buf *b, const char *text);
void pct_buf_format(struct pct_buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pct_buf_vformat(struct pct_buf *b, const char *format, va_list args);
void pct_buf_fill(struct pct_buf *b, char c, size_t n);
/* Appends 16 hexadecimal digits; a quarter of the time of a format, which counts in large tables.
 */
void pct_buf_hex(struct pct_buf *b, uint64_t v);
/* Two digits for each byte. */
void pct_buf_bytes(struct pct_buf *b, const uint8_t *bytes, size_t n);
void pct_buf_clear(struct pct_buf *b);
void pct_buf_free(struct pct_buf *b);

/* Writes to out[size] what fits of a text, terminated. */
void pct_text_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Strings kept once, freed together ------------------------------------------------------- */

struct pct_pool;
struct pct_pool *pct_pool_new(void);
void pct_pool_free(struct pct_pool *p);
/* The one copy of this text: equal texts have equal addresses. */
const char *pct_pool_intern(struct pct_pool *p, const char *text);

/* ---- Escapes --------------------------------------------------------------------------------- */

enum pct_escape {
    PCT_ESCAPE_CELL, /* backslash, control characters, bytes that are not UTF-8 */
    PCT_ESCAPE_NAME, /* also @, and > beside a space: part of a path */
    PCT_ESCAPE_LINE  /* a line of source: a backslash stands for itself */
};

/* Appends text such that the result is valid UTF-8 without control or direction characters:
 * backslash, tab, newline and return become \\ \t \n \r, any other byte of the kind \xHH, and with
 * PCT_ESCAPE_NAME \@ and \>. Reversible, except with PCT_ESCAPE_LINE. */
void pct_text_escape(struct pct_buf *b, const char *text, enum pct_escape mode);

/* The text escaped as a cell, for output; the caller frees it. */
char *pct_text_escaped(const char *text);

/* Appends a word for a command that a user may copy: in quotes if a shell would change it. */
void pct_text_shell(struct pct_buf *b, const char *word);
/* Appends the first word of such a command without its quotes. Returns where it ends in `line`. */
const char *pct_text_unquote(struct pct_buf *b, const char *line);

/* Appends a text that is escaped already in quotes as JSON has it. */
void pct_text_quote(struct pct_buf *b, const char *text);

/* Appends the text as a JSON string, escaped as a cell; NULL becomes null. */
void pct_text_json(struct pct_buf *b, const char *text);

/* Length of the UTF-8 sequence at s (n bytes left), 0 if it is none. */
size_t pct_text_utf8(const char *s, size_t n);

/* ---- Numbers --------------------------------------------------------------------------------- */

#define PCT_NUMBER_BYTES 48

/* Each writes a terminated text to out[PCT_NUMBER_BYTES] and returns out. */
char *pct_text_u128(char *out, pc_u128 v);      /* 12345 */
char *pct_text_count(char *out, pc_u128 v);     /* 12,345 */
char *pct_text_time(char *out, pc_u128 ns);     /* 1.234 ms */
char *pct_text_bytes(char *out, pc_u128 bytes); /* 1.500 KiB */
char *pct_text_seconds(char *out, pc_u128 ns);  /* 0.001234000 */
char *pct_text_percent(char *out, pc_u128 m);   /* thousandths of a percent: 12.345 */
char *pct_text_percent_1(char *out, pc_u128 m); /* the same: 12.3 % */

/* The whole number next to v, for the functions above; 0 if v is below 0 or no number, and 2^100 of
 * all that are above it. */
pc_u128 pct_text_whole(double v);

/* Writes a value with its error: 12.3 M +- 0.4 M, 1.23 s +- 0.04 s. The error has one digit, or two
 * if the first is 1, and the value as many decimals; only the value if the error is negligible.
 * Both must be at least 0. */
enum pct_unit { PCT_UNIT_NONE, PCT_UNIT_NS, PCT_UNIT_PERCENT };
void pct_text_estimate(struct pct_buf *b, double value, double error, enum pct_unit unit);
/* Writes a mean of measured times with its error, each with four digits, so that a large error
 * does not round the mean below the least of the times. An error below 0 is not known. */
void pct_text_mean(struct pct_buf *b, double mean_ns, double error_ns);

/* part / whole in thousandths of a percent, rounded; 0 if whole is 0. */
pc_u128 pct_text_share(pc_u128 part, pc_u128 whole);

/* ---- Columns of a terminal ------------------------------------------------------------------- */

/* Character cells of UTF-8 text: one per character. */
size_t pct_text_cells(const char *text);

/* Appends at most `cells` cells of text; if it is longer, an ellipsis (ASCII: two dots) replaces
 * the middle. */
void pct_text_cut(struct pct_buf *b, const char *text, size_t cells, bool utf8);

/* Appends a name for users. One of more than PCT_LONGEST_NAME characters loses its middle, in whose
 * place is the number of characters that are left out. Data for programs has whole names. */
enum { PCT_LONGEST_NAME = 2000 };
void pct_text_bounded(struct pct_buf *b, const char *name);

#endif
