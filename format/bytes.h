/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes: a growing buffer to write to, and a cursor that never reads past its end. Both remember a
 * failure, so that a caller checks once at the end.
 *
 * A varint has 7 bits per byte, the lowest first, and the eighth bit set in all bytes but the last;
 * at most 10 bytes for 64 bits. Fixed integers are little-endian.
 */
#ifndef PC_BYTES_H
#define PC_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pc_buffer {
    uint8_t *data; /* freed with free() */
    size_t n, room;
    bool failed; /* no memory: data put since then is missing */
};

struct pc_cursor {
    const uint8_t *at, *end;
    bool failed; /* read past the end, or a varint of more than 64 bits: all reads give 0 */
    struct pc_refill *more; /* NULL: nothing follows `end` */
};

/* The source of a cursor whose bytes are read in pieces. */
struct pc_refill {
    uint64_t left; /* bytes that follow the end of the cursor */
    /* Moves the cursor to a piece that has n bytes of what it has not read, or all that are left.
     * Marks the cursor as failed if there are fewer than `left`. */
    void (*fill)(struct pc_cursor *c, size_t n);
};

static inline struct pc_cursor pc_cursor_over(const void *data, size_t n)
{
    const uint8_t *at = data;
    return (struct pc_cursor){.at = at, .end = at + n};
}

/* False: no memory. Out of line: it is rare, and callers are many. */
__attribute__((noinline, unused)) static bool pc_buffer_grow(struct pc_buffer *b, size_t n)
{
    size_t room, least = b->room + b->room / 2;
    if (b->failed || __builtin_add_overflow(b->n, n, &room) || room > PTRDIFF_MAX / 2) {
        b->failed = true;
        return false;
    }
    room = room < least ? least : room;
    room = room < 256 ? 256 : room;
    uint8_t *data = realloc(b->data, room);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->room = room;
    return true;
}

/* The end of the buffer, with room for n bytes behind it, or NULL. */
static inline uint8_t *pc_buffer_end(struct pc_buffer *b, size_t n)
{
    return n <= b->room - b->n || pc_buffer_grow(b, n) ? b->data + b->n : NULL;
}

static inline uint8_t *pc_buffer_extend(struct pc_buffer *b, size_t n)
{
    uint8_t *at = pc_buffer_end(b, n);
    if (at)
        b->n += n;
    return at;
}

static inline void pc_put_bytes(struct pc_buffer *b, const void *data, size_t n)
{
    if (!n)
        return;
    uint8_t *at = pc_buffer_extend(b, n);
    if (at)
        memcpy(at, data, n);
}

#define PC_VARINT_MOST 10
#define PC_EIGHTH_BITS 0x8080808080808080u

/* Writes a varint, and returns where it ends. */
static inline uint8_t *pc_store_varint(uint8_t *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (uint8_t)(v | 0x80);
    *at++ = (uint8_t)v;
    return at;
}

static inline void pc_put_varint(struct pc_buffer *b, uint64_t v)
{
    uint8_t *at = pc_buffer_end(b, PC_VARINT_MOST);
    if (at)
        b->n = (size_t)(pc_store_varint(at, v) - b->data);
}

/* Maps small numbers of either sign to small varints: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
static inline uint64_t pc_zigzag(uint64_t v)
{
    return v << 1 ^ (uint64_t) - (int64_t)(v >> 63);
}

static inline uint64_t pc_unzigzag(uint64_t v)
{
    return v >> 1 ^ (uint64_t) - (int64_t)(v & 1);
}

static inline void pc_store_le(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static inline uint64_t pc_load_le(const uint8_t *at, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)at[i] << 8 * i;
    return v;
}

/* Eight bytes, the lowest first. */
static inline uint64_t pc_load_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

static inline void pc_put_le(struct pc_buffer *b, uint64_t v, unsigned n)
{
    uint8_t bytes[8];
    pc_store_le(bytes, v, n);
    pc_put_bytes(b, bytes, n);
}

static inline void pc_put_text(struct pc_buffer *b, const char *text)
{
    size_t n = strlen(text);
    pc_put_varint(b, n);
    pc_put_bytes(b, text, n);
}

/* Bytes that were not read; after a failure too. */
static inline uint64_t pc_cursor_unread(const struct pc_cursor *c)
{
    return (size_t)(c->end - c->at) + (c->more ? c->more->left : 0);
}

static inline uint64_t pc_cursor_left(const struct pc_cursor *c)
{
    return c->failed ? 0 : pc_cursor_unread(c);
}

/* Makes n bytes readable in place, or as many as there are. */
static inline void pc_cursor_need(struct pc_cursor *c, size_t n)
{
    if ((size_t)(c->end - c->at) < n && c->more && c->more->left && !c->failed)
        c->more->fill(c, n);
}

/* n bytes in place, valid until the next read, or NULL. */
static inline const uint8_t *pc_get_bytes(struct pc_cursor *c, uint64_t n)
{
    if (n <= pc_cursor_left(c))
        pc_cursor_need(c, n);
    if (c->failed || n > (size_t)(c->end - c->at)) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *at = c->at;
    c->at += n;
    return at;
}

/* Reads a varint byte by byte. Out of line: few are longer than 8 bytes, or at the end. */
__attribute__((noinline, unused)) static uint64_t pc_get_rare_varint(struct pc_cursor *c)
{
    pc_cursor_need(c, PC_VARINT_MOST);
    size_t left = c->failed ? 0 : (size_t)(c->end - c->at);
    size_t n = left < PC_VARINT_MOST ? left : PC_VARINT_MOST, i = 0;
    const uint8_t *at = c->at;
    uint64_t v = 0;
    while (i < n) {
        uint8_t byte = at[i++];
        if (i == PC_VARINT_MOST && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << 7 * (i - 1);
        if (byte & 0x80)
            continue;
        c->at = at + i;
        return v;
    }
    c->at = at + i;
    c->failed = true;
    return 0;
}

/* The number whose 7 bits are in each byte of a word. */
static inline uint64_t pc_join_sevens(uint64_t word)
{
    word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
    word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
    return (word & 0x0fffffffu) | (word & 0x0fffffff00000000u) >> 4;
}

static inline uint64_t pc_get_varint(struct pc_cursor *c)
{
    if (c->failed || c->end - c->at < 8)
        return pc_get_rare_varint(c);
    uint64_t word = pc_load_word(c->at), last = ~word & PC_EIGHTH_BITS;
    if (last & 0x80) {
        c->at++;
        return word & 0x7f;
    }
    if (!last)
        return pc_get_rare_varint(c);
    c->at += (__builtin_ctzll(last) >> 3) + 1;
    return pc_join_sevens(word & (last ^ (last - 1)));
}

/* Passes over n varints, as far as they are in place: over n bytes without the eighth bit. Returns
 * the number of those that are not. */
static inline uint64_t pc_pass_varints(struct pc_cursor *c, uint64_t n)
{
    const uint64_t ones = 0x0101010101010101u;
    for (; n >= 8 && c->end - c->at >= 8; c->at += 8)
        n -= (~pc_load_word(c->at) >> 7 & ones) * ones >> 56;
    while (n && c->at < c->end)
        n -= !(*c->at++ & 0x80);
    return n;
}

/* False: no varint of what is in place is longer than 9 bytes, so all are of 64 bits. A longer one
 * has at least five bytes with the eighth bit at an end of a word. */
static inline bool pc_any_long_varint(const struct pc_cursor *c)
{
    const uint64_t low = 0x8080808080u, high = low << 24;
    const uint8_t *at = c->at;
    bool any = false;
    for (; c->end - at >= 8; at += 8) {
        uint64_t word = pc_load_word(at);
        any |= (word & low) == low || (word & high) == high;
    }
    uint64_t word = at > c->at && at < c->end ? pc_load_word(c->end - 8) : 0;
    return any || (word & low) == low || (word & high) == high;
}

/* The sum of the eight bytes of a word, each at most 255. */
static inline uint64_t pc_sum_of_bytes(uint64_t word)
{
    const uint64_t low = 0x00ff00ff00ff00ffu;
    return ((word & low) + (word >> 8 & low)) * 0x0001000100010001u >> 48;
}

/* The sum of n zigzag numbers, those of one byte each by eight. */
static inline uint64_t pc_sum_zigzags(struct pc_cursor *c, uint64_t n)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t sum = 0;
    while (n) {
        uint64_t word = n >= 8 && c->end - c->at >= 8 ? pc_load_word(c->at) : PC_EIGHTH_BITS;
        if (word & PC_EIGHTH_BITS) {
            sum += pc_unzigzag(pc_get_varint(c));
            n--;
            continue;
        }
        uint64_t odd = word & ones, half = word >> 1 & 0x3f * ones, negative = odd * 0xff;
        sum += pc_sum_of_bytes(half & ~negative) - pc_sum_of_bytes((half & negative) + odd);
        c->at += 8;
        n -= 8;
    }
    return sum;
}

/* A varint of at most `max`. */
static inline uint64_t pc_get_below(struct pc_cursor *c, uint64_t max)
{
    uint64_t v = pc_get_varint(c);
    if (v > max) {
        c->failed = true;
        return 0;
    }
    return v;
}

/* A count of elements of at least `least` bytes each: a count that the remaining bytes cannot hold
 * is refused before memory is allocated. */
static inline uint32_t pc_get_count(struct pc_cursor *c, unsigned least)
{
    uint64_t n = pc_get_below(c, UINT32_MAX - 1);
    if (n > pc_cursor_left(c) / least) {
        c->failed = true;
        return 0;
    }
    return (uint32_t)n;
}

static inline uint64_t pc_get_le(struct pc_cursor *c, unsigned n)
{
    const uint8_t *at = pc_get_bytes(c, n);
    return at ? pc_load_le(at, n) : 0;
}

#endif
