/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes messages from inside a measured program: formatted without stdio, written by one write(2).
 * Every function of this file may run in a signal handler.
 */
#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct out {
    char *p, *end;
    char *middle; /* from here on the text is cut when it is too long; NULL: at its end */
};

enum { CUT_BYTES = 16 };
static const char cut_mark[3] = {'.', '.', '.'};

/* Makes room behind the middle, at which the text shows that something is missing. */
static void cut_middle(struct out *o)
{
    char *to = o->middle + sizeof cut_mark;
    memmove(to, to + CUT_BYTES, (size_t)(o->p - to) - CUT_BYTES);
    memcpy(o->middle, cut_mark, sizeof cut_mark);
    o->p -= CUT_BYTES;
}

static void put_char(struct out *o, char c)
{
    if (o->p == o->end && o->middle)
        cut_middle(o);
    if (o->p < o->end)
        *o->p++ = c;
}

static void put_text(struct out *o, const char *s)
{
    for (s = s ? s : "(null)"; *s; s++)
        put_char(o, *s);
}

static void put_number(struct out *o, uint64_t v, unsigned base)
{
    char digits[20];
    int n = 0;
    do {
        digits[n++] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    while (n)
        put_char(o, digits[--n]);
}

static void put_signed(struct out *o, int64_t v)
{
    if (v < 0)
        put_char(o, '-');
    put_number(o, v < 0 ? -(uint64_t)v : (uint64_t)v, 10);
}

/* Writes one conversion; returns the character after it. */
static const char *convert(struct out *o, const char *f, va_list *args)
{
    bool wide = false;
    while (*f == 'l' || *f == 'z') {
        wide = true;
        f++;
    }
    switch (*f) {
    case 's':
        put_text(o, va_arg(*args, const char *));
        break;
    case 'c':
        put_char(o, (char)va_arg(*args, int));
        break;
    case 'd':
        put_signed(o, wide ? va_arg(*args, long) : va_arg(*args, int));
        break;
    case 'u':
    case 'x':
        put_number(o, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned),
                   *f == 'x' ? 16 : 10);
        break;
    case '\0':
        return f;
    default:
        put_char(o, *f);
    }
    return f + 1;
}

static size_t put_all(struct out *o, const char *format, va_list args)
{
    char *begin = o->p;
    va_list copy;
    va_copy(copy, args);
    for (const char *f = format; *f;) {
        if (*f != '%')
            put_char(o, *f++);
        else
            f = convert(o, f + 1, &copy);
    }
    va_end(copy);
    *o->p = '\0';
    return (size_t)(o->p - begin);
}

size_t pc_vformat(char *out, size_t n, const char *format, va_list args)
{
    return n ? put_all(&(struct out){out, out + n - 1, NULL}, format, args) : 0;
}

size_t pc_vformat_ends(char *out, size_t n, const char *format, va_list args)
{
    return put_all(&(struct out){out, out + n - 1, out + n / 4}, format, args);
}

size_t pc_format(char *out, size_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t length = pc_vformat(out, n, format, args);
    va_end(args);
    return length;
}

/* Standard output and error as they were when the process began. A program may have closed the
 * latter since, and opened its own data under this number. */
static struct stat own[2];
static bool is_noted;

void pc_log_note_error(void)
{
    for (int i = 0; i < 2; i++)
        if (fstat(STDOUT_FILENO + i, &own[i]))
            own[i] = (struct stat){0};
    is_noted = true;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool is_our_error(void)
{
    struct stat now;
    return !is_noted || (!fstat(STDERR_FILENO, &now) &&
                         (is_same_file(&own[0], &now) || is_same_file(&own[1], &now)));
}

/* Writes a line. */
static void write_line(const char *line, size_t n)
{
    while (pc_file_write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
        ;
}

void pc_log(const char *format, ...)
{
    static const char prefix[] = "pcollect: ";
    char line[1024];
    size_t n = sizeof prefix - 1;
    memcpy(line, prefix, n);
    va_list args;
    va_start(args, format);
    n += pc_vformat_ends(line + n, sizeof line - n - 1, format, args);
    va_end(args);
    line[n++] = '\n';
    int saved = errno;
    if (is_our_error())
        write_line(line, n);
    errno = saved;
}
