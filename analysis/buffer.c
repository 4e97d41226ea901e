/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers, escapes, numbers, widths: see buffer.h. Numbers without an error are formatted with
 * integers only, so that they are exact and do not depend on the locale.
 */
#include "analysis/buffer.h"
#include "analysis/hash_index.h"
#include "base/shell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Growing text ---------------------------------------------------------------------------- */

void pct_buf_put(struct pct_buf *b, const char *text, size_t n)
{
    b->data = pct_grow(b->data, b->n + n, &b->room, 1);
    memcpy(b->data + b->n, text, n);
    b->n += n;
    b->data[b->n] = 0;
}

void pct_buf_text(struct pct_buf *b, const char *text)
{
    pct_buf_put(b, text, strlen(text));
}

void pct_buf_vformat(struct pct_buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(b->data + b->n, b->room - b->n, format, args);
    size_t n = length > 0 ? (size_t)length : 0;
    if (b->n + n >= b->room) {
        b->data = pct_grow(b->data, b->n + n, &b->room, 1);
        vsnprintf(b->data + b->n, n + 1, format, again);
    }
    b->n += n;
    va_end(again);
}

void pct_buf_format(struct pct_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pct_buf_vformat(b, format, args);
    va_end(args);
}

void pct_text_format(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
}

void pct_buf_fill(struct pct_buf *b, char c, size_t n)
{
    while (n--)
        pct_buf_put(b, &c, 1);
}

void pct_buf_hex(struct pct_buf *b, uint64_t v)
{
    char digits[16];
    for (size_t i = 0; i < sizeof digits; i++)
        digits[i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
    pct_buf_put(b, digits, sizeof digits);
}

void pct_buf_bytes(struct pct_buf *b, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pct_buf_format(b, "%02x", bytes[i]);
}

void pct_buf_clear(struct pct_buf *b)
{
    b->n = 0;
    pct_buf_put(b, "", 0);
}

void pct_buf_free(struct pct_buf *b)
{
    pct_free(b->data);
    *b = (struct pct_buf){0};
}

/* ---- Strings kept once ----------------------------------------------------------------------- */

enum { CHUNK_BYTES = 16384 };

/* Texts one after the other, in chunks. The number of a text in the index is its place, as if all
 * chunks were one array. */
struct pct_pool {
    char **chunks; /* by place / CHUNK_BYTES; NULL: a long text goes on */
    size_t n_chunks, room;
    uint32_t next; /* place for the next text, in the last chunk */
    size_t left;   /* bytes there */
    struct pct_hash_index by_text;
};

struct pct_pool *pct_pool_new(void)
{
    return pct_alloc(1, sizeof(struct pct_pool));
}

void pct_pool_free(struct pct_pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_chunks; i++)
        pct_free(p->chunks[i]);
    pct_free(p->chunks);
    pct_hash_free(&p->by_text);
    pct_free(p);
}

static char *text_at(const struct pct_pool *p, uint32_t place)
{
    return p->chunks[place / CHUNK_BYTES] + place % CHUNK_BYTES;
}

/* Adds a chunk with n bytes or more. A long text has one of its own. */
static void add_chunk(struct pct_pool *p, size_t n)
{
    size_t bytes = n > CHUNK_BYTES ? n : CHUNK_BYTES, first = p->n_chunks;
    size_t end = first + (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    if (end > UINT32_MAX / CHUNK_BYTES)
        pct_memory_refuse();
    p->chunks = pct_grow(p->chunks, end - 1, &p->room, sizeof *p->chunks);
    p->chunks[first] = pct_alloc(1, bytes);
    for (p->n_chunks = first + 1; p->n_chunks < end; p->n_chunks++)
        p->chunks[p->n_chunks] = NULL;
    p->next = (uint32_t)(first * CHUNK_BYTES);
    p->left = bytes;
}

/* Returns the place of a copy. */
static uint32_t keep(struct pct_pool *p, const char *text)
{
    size_t n = strlen(text) + 1;
    if (p->left < n)
        add_chunk(p, n);
    uint32_t place = p->next;
    memcpy(text_at(p, place), text, n);
    p->next += (uint32_t)n;
    p->left -= n;
    return place;
}

const char *pct_pool_intern(struct pct_pool *p, const char *text)
{
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_bytes(text, strlen(text), 0)};
    uint32_t place;
    while ((place = pct_hash_next(&p->by_text, &search)) != PC_NO_INDEX)
        if (!strcmp(text_at(p, place), text))
            return text_at(p, place);
    place = keep(p, text);
    pct_hash_add(&p->by_text, search.hash, place);
    return text_at(p, place);
}

/* ---- Escapes --------------------------------------------------------------------------------- */

size_t pct_text_utf8(const char *s, size_t n)
{
    const uint8_t *u = (const uint8_t *)s;
    if (!n)
        return 0;
    if (u[0] < 0x80)
        return 1;
    size_t length = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || u[0] > 0xf4 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xf0 && u[1] < 0x90);
    bool outside = (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf4 && u[1] > 0x8f);
    return overlong || outside ? 0 : length;
}

/* True for characters that a terminal or an editor interprets instead of showing: C1 controls, line
 * and paragraph separators, direction marks. */
static bool is_obeyed(const char *s, size_t length)
{
    const uint8_t *u = (const uint8_t *)s;
    if (length == 2)
        return u[0] == 0xc2 && u[1] < 0xa0;
    if (length != 3)
        return false;
    unsigned c = (u[0] & 0xfu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
    return (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f || c == 0xfeff;
}

/* The letter of a short escape, or 0. `before` and `after` are the neighbours of c. */
static char short_escape(char c, char before, char after, enum pct_escape mode)
{
    switch (c) {
    case '\\':
        return mode == PCT_ESCAPE_LINE ? 0 : '\\';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '@':
        return mode == PCT_ESCAPE_NAME ? '@' : 0;
    case '>':
        return mode == PCT_ESCAPE_NAME && (before == ' ' || after == ' ') ? '>' : 0;
    default:
        return 0;
    }
}

/* Length of the prefix that needs no escape: almost all of most names. Names of templates have
 * thousands of characters. */
static size_t plain_bytes(const char *text)
{
    size_t n = 0;
    while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '\\' && text[n] != '@' && text[n] != '>')
        n++;
    return n;
}

void pct_text_escape(struct pct_buf *b, const char *text, enum pct_escape mode)
{
    size_t n = strlen(text);
    pct_buf_put(b, "", 0);
    for (size_t i = 0; i < n;) {
        size_t plain = plain_bytes(text + i);
        pct_buf_put(b, text + i, plain);
        i += plain;
        if (i == n)
            break;
        size_t length = pct_text_utf8(text + i, n - i);
        char letter = short_escape(text[i], i ? text[i - 1] : 0, text[i + 1], mode);
        if (letter) {
            pct_buf_put(b, (char[]){'\\', letter}, 2);
        } else if (length && !is_obeyed(text + i, length) && (uint8_t)text[i] >= 0x20 &&
                   text[i] != 0x7f) {
            pct_buf_put(b, text + i, length);
        } else {
            length = length ? length : 1;
            for (size_t k = 0; k < length; k++)
                pct_buf_format(b, "\\x%02x", (unsigned)(uint8_t)text[i + k]);
        }
        i += length;
    }
}

char *pct_text_escaped(const char *text)
{
    struct pct_buf b = {0};
    pct_text_escape(&b, text, PCT_ESCAPE_CELL);
    return b.data;
}

void pct_text_shell(struct pct_buf *b, const char *word)
{
    bool plain = pc_shell_is_plain(word);
    pct_buf_text(b, plain ? "" : "'");
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            pct_buf_text(b, "'\\''");
        else
            pct_buf_put(b, p, 1);
    }
    pct_buf_text(b, plain ? "" : "'");
}

const char *pct_text_unquote(struct pct_buf *b, const char *line)
{
    bool quoted = false;
    pct_buf_put(b, "", 0);
    for (; *line && (quoted || *line != ' '); line++) {
        if (*line == '\'')
            quoted = !quoted;
        else if (*line == '\\' && !quoted && line[1])
            pct_buf_put(b, ++line, 1);
        else
            pct_buf_put(b, line, 1);
    }
    return line;
}

void pct_text_quote(struct pct_buf *b, const char *text)
{
    pct_buf_text(b, "\"");
    while (*text) {
        size_t plain = strcspn(text, "\"\\");
        pct_buf_put(b, text, plain);
        text += plain;
        if (*text) {
            pct_buf_text(b, "\\");
            pct_buf_put(b, text++, 1);
        }
    }
    pct_buf_text(b, "\"");
}

void pct_text_json(struct pct_buf *b, const char *text)
{
    struct pct_buf cell = {0};
    if (!text) {
        pct_buf_text(b, "null");
        return;
    }
    pct_text_escape(&cell, text, PCT_ESCAPE_CELL);
    pct_text_quote(b, cell.data);
    pct_buf_free(&cell);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

char *pct_text_u128(char *out, pc_u128 v)
{
    char digits[40];
    size_t n = 0;
    for (; v >> 64; v /= 10) /* a division of 128 bits takes ten times as long */
        digits[n++] = (char)('0' + (int)(v % 10));
    for (uint64_t rest = (uint64_t)v; rest || !n; rest /= 10)
        digits[n++] = (char)('0' + (int)(rest % 10));
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = 0;
    return out;
}

char *pct_text_count(char *out, pc_u128 v)
{
    char plain[PCT_NUMBER_BYTES];
    size_t n = strlen(pct_text_u128(plain, v)), k = 0;
    if (n > 30) /* commas would not fit */
        return memcpy(out, plain, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = plain[i];
    }
    out[k] = 0;
    return out;
}

pc_u128 pct_text_whole(double v)
{
    return v > 0 ? (pc_u128)round(fmin(v, 0x1p100)) : 0;
}

/* Writes v / 10^decimals with that many decimals. */
static char *put_fixed(char *out, pc_u128 v, unsigned decimals)
{
    uint64_t one = 1;
    for (unsigned i = 0; i < decimals; i++)
        one *= 10;
    pct_text_u128(out, v / one);
    size_t n = strlen(out);
    if (decimals)
        out[n++] = '.';
    uint64_t rest = (uint64_t)(v % one);
    for (unsigned i = decimals; i-- > 0; rest /= 10)
        out[n + i] = (char)('0' + (int)(rest % 10));
    out[n + decimals] = 0;
    return out;
}

/* Writes v / unit with four significant digits, without a fraction if the unit is the smallest. A
 * number of five digits or more is a number of the largest unit, and has commas like a count. */
static char *put_scaled(char *out, pc_u128 v, pc_u128 unit, const char *name)
{
    pc_u128 scaled = v;
    unsigned decimals = 0;
    if (unit > 1) {
        pc_u128 ten = 1000;
        for (decimals = 3; decimals; decimals--, ten /= 10) {
            scaled = (v * ten + unit / 2) / unit;
            if (scaled < 10000)
                break;
        }
        if (!decimals)
            scaled = (v + unit / 2) / unit;
    }
    if (scaled >= 10000)
        pct_text_count(out, scaled);
    else
        put_fixed(out, scaled, decimals);
    return strcat(strcat(out, " "), name);
}

/* A time or size has the greatest unit of which it is 1 or more when it is rounded: 999.95 us are
 * 1.000 ms, and 1023.5 KiB 1.000 MiB. */
char *pct_text_time(char *out, pc_u128 ns)
{
    if (ns < 1000)
        return put_scaled(out, ns, 1, "ns");
    if (ns < 999950)
        return put_scaled(out, ns, 1000, "us");
    if (ns < 999950000)
        return put_scaled(out, ns, 1000000, "ms");
    return put_scaled(out, ns, 1000000000, "s");
}

char *pct_text_bytes(char *out, pc_u128 bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t k = 0;
    while (k + 1 < PC_ARRAY_LEN(names) && (k ? bytes >> (10 * k - 1) >= 2047 : bytes >= 1024))
        k++;
    return put_scaled(out, bytes, (pc_u128)1 << (10 * k), names[k]);
}

char *pct_text_seconds(char *out, pc_u128 ns)
{
    return put_fixed(out, ns, 9);
}

char *pct_text_percent(char *out, pc_u128 m)
{
    return put_fixed(out, m, 3);
}

char *pct_text_percent_1(char *out, pc_u128 m)
{
    return strcat(put_fixed(out, (m + 50) / 100, 1), " %");
}

/* True if the value is told without its error. */
static bool is_exact(double value, double error)
{
    return !(error > value * 1e-5);
}

/* Decimals of a value with this error; of one without an error those of four digits. */
static int decimals_of(double value, double error)
{
    if (is_exact(value, error))
        return value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
    double decimals = ceil(-log10(error / 2));
    return decimals < 0 ? 0 : decimals > 9 ? 9 : (int)decimals;
}

/* The value as it is told in this unit. */
static double round_in(double value, double error, double unit)
{
    double scale = pow(10, decimals_of(value / unit, error / unit));
    return round(value / unit * scale) / scale * unit;
}

/* Writes a number with commas from five digits before the point on. */
static void put_grouped(struct pct_buf *b, double v, int decimals)
{
    struct pct_buf plain = {0};
    pct_buf_format(&plain, "%.*f", decimals, v);
    size_t n = strspn(plain.data, "0123456789");
    for (size_t i = 0; i < plain.n; i++) {
        if (n > 4 && i && i < n && (n - i) % 3 == 0)
            pct_buf_text(b, ",");
        pct_buf_put(b, plain.data + i, 1);
    }
    pct_buf_free(&plain);
}

void pct_text_estimate(struct pct_buf *b, double value, double error, enum pct_unit unit)
{
    static const struct scale {
        double least, unit;
        const char *name;
    } scales[][5] = {
        [PCT_UNIT_NONE] =
            {{1e12, 1e12, " T"}, {1e9, 1e9, " G"}, {1e6, 1e6, " M"}, {1e4, 1e3, " k"}, {0, 1, ""}},
        [PCT_UNIT_NS] = {{1e9, 1e9, " s"}, {1e6, 1e6, " ms"}, {1e3, 1e3, " us"}, {0, 1, " ns"}},
        [PCT_UNIT_PERCENT] = {{0, 1, " %"}},
    };
    const struct scale *s = scales[unit];
    while (s->least > 0 && round_in(value, error, s[1].unit) < s->least)
        s++;
    double one = s->unit;
    int decimals = decimals_of(value / one, error / one);
    if (is_exact(value, error) && value / one < 9999.5) {
        pct_buf_format(b, "%.4g%s", value / one, s->name);
        return;
    }
    put_grouped(b, value / one, decimals);
    pct_buf_text(b, s->name);
    if (!is_exact(value, error)) {
        pct_buf_text(b, " +- ");
        put_grouped(b, error / one, decimals);
        pct_buf_text(b, s->name);
    }
}

void pct_text_mean(struct pct_buf *b, double mean_ns, double error_ns)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_time(number, pct_text_whole(mean_ns)));
    if (error_ns >= 0)
        pct_buf_format(b, " +- %s", pct_text_time(number, pct_text_whole(error_ns)));
}

pc_u128 pct_text_share(pc_u128 part, pc_u128 whole)
{
    /* Scales both down while the product would overflow. */
    while (part >> 110) {
        part >>= 1;
        whole >>= 1;
    }
    return whole ? (part * 100000 + whole / 2) / whole : 0;
}

/* ---- Columns of a terminal ------------------------------------------------------------------- */

size_t pct_text_cells(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((uint8_t)*text & 0xc0) != 0x80;
    return n;
}

/* The place of the n-th character. */
static const char *skip_cells(const char *text, size_t n)
{
    while (*text && n) {
        text++;
        while (((uint8_t)*text & 0xc0) == 0x80)
            text++;
        n--;
    }
    return text;
}

void pct_text_cut(struct pct_buf *b, const char *text, size_t cells, bool utf8)
{
    size_t n = pct_text_cells(text);
    const char *dots = utf8 ? "\xe2\x80\xa6" : "..";
    size_t n_dots = utf8 ? 1 : 2;
    if (n <= cells) {
        pct_buf_text(b, text);
        return;
    }
    if (cells < n_dots + 2) {
        pct_buf_put(b, text, (size_t)(skip_cells(text, cells) - text));
        return;
    }
    size_t head = (cells - n_dots) * 2 / 3, tail = cells - n_dots - head;
    pct_buf_put(b, text, (size_t)(skip_cells(text, head) - text));
    pct_buf_text(b, dots);
    pct_buf_text(b, skip_cells(text, n - tail));
}

void pct_text_bounded(struct pct_buf *b, const char *name)
{
    enum { FIRST = 400, LAST = 100 };
    size_t n = pct_text_cells(name);
    if (n <= PCT_LONGEST_NAME) {
        pct_buf_text(b, name);
        return;
    }
    pct_buf_put(b, name, (size_t)(skip_cells(name, FIRST) - name));
    pct_buf_format(b, " ... (%zu characters left out) ... ", n - FIRST - LAST);
    pct_buf_text(b, skip_cells(name, n - LAST));
}
