/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads JSON from standard input and checks that it follows the grammar of RFC 8259 and is UTF-8:
 * status 0 or 1. Objects must not name a member twice. Shares no code with the writer, as its
 * oracle.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *text;
static size_t at, length;

static void refuse(const char *why)
{
    fprintf(stderr, "json_check: byte %zu: %s\n", at, why);
    exit(1);
}

static int peek(void)
{
    return at < length ? text[at] : -1;
}

static void skip_space(void)
{
    while (at < length && strchr(" \t\r\n", text[at]))
        at++;
}

static void expect(int c)
{
    if (peek() != c)
        refuse("another character was expected");
    at++;
}

/* One code point of at least two bytes. */
static void read_utf8(void)
{
    unsigned c = text[at];
    unsigned n = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    unsigned least = n == 3 ? 0x10000 : n == 2 ? 0x800 : 0x80;
    unsigned value = c & (0x3fu >> n);
    if (c < 0xc0 || c > 0xf7)
        refuse("not UTF-8");
    at++;
    while (n--) {
        if ((peek() & 0xc0) != 0x80 || peek() < 0)
            refuse("not UTF-8");
        value = value << 6 | (text[at++] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        refuse("not UTF-8");
}

static void read_string(void)
{
    expect('"');
    while (peek() != '"') {
        int c = peek();
        if (c < 0x20)
            refuse("a control character or the end in a string");
        if (c >= 0x80) {
            read_utf8();
            continue;
        }
        at++;
        if (c != '\\')
            continue;
        c = peek();
        at++;
        if (c == 'u') {
            for (int i = 0; i < 4; i++, at++) {
                if (peek() < 0 || !strchr("0123456789abcdefABCDEF", peek()))
                    refuse("a bad \\u");
            }
        } else if (c < 0 || !strchr("\"\\/bfnrt", c)) {
            refuse("a bad escape");
        }
    }
    at++;
}

static void read_digits(void)
{
    if (peek() < '0' || peek() > '9')
        refuse("a digit was expected");
    while (peek() >= '0' && peek() <= '9')
        at++;
}

static void read_number(void)
{
    if (peek() == '-')
        at++;
    if (peek() == '0')
        at++;
    else
        read_digits();
    if (peek() == '.') {
        at++;
        read_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
        at++;
        if (peek() == '+' || peek() == '-')
            at++;
        read_digits();
    }
}

static void read_word(const char *word)
{
    if (length - at < strlen(word) || memcmp(text + at, word, strlen(word)))
        refuse("not a value");
    at += strlen(word);
}

static void read_value(int depth);

static void read_object(int depth)
{
    struct {
        size_t begin, n;
    } names[256];
    size_t n = 0;
    expect('{');
    skip_space();
    while (peek() != '}') {
        if (n)
            expect(',');
        skip_space();
        size_t begin = at;
        read_string();
        for (size_t i = 0; i < n; i++) {
            if (names[i].n == at - begin &&
                !memcmp(text + names[i].begin, text + begin, names[i].n))
                refuse("a member is there twice");
        }
        if (n == sizeof names / sizeof names[0])
            refuse("too many members");
        names[n].begin = begin;
        names[n++].n = at - begin;
        skip_space();
        expect(':');
        read_value(depth + 1);
        skip_space();
    }
    at++;
}

static void read_array(int depth)
{
    bool first = true;
    expect('[');
    skip_space();
    while (peek() != ']') {
        if (!first)
            expect(',');
        first = false;
        read_value(depth + 1);
        skip_space();
    }
    at++;
}

static void read_value(int depth)
{
    if (depth > 100)
        refuse("too deep");
    skip_space();
    switch (peek()) {
    case '{':
        read_object(depth);
        break;
    case '[':
        read_array(depth);
        break;
    case '"':
        read_string();
        break;
    case 't':
        read_word("true");
        break;
    case 'f':
        read_word("false");
        break;
    case 'n':
        read_word("null");
        break;
    default:
        read_number();
    }
}

int main(void)
{
    size_t room = 1 << 16, n;
    text = malloc(room);
    while (text && (n = fread(text + length, 1, room - length, stdin)) > 0) {
        length += n;
        if (length == room)
            text = realloc(text, room *= 2);
    }
    if (!text)
        return 2;
    read_value(0);
    skip_space();
    if (at != length)
        refuse("text after the value");
    free(text);
    return 0;
}
