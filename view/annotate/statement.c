/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the first line of a statement of several lines: compilers refer to one of its lines, often
 * the last. Also finds the line that begins the definition of a function.
 *
 * Fortran marks continuation lines, by `&` at the end of the previous line or, in fixed form, by a
 * mark in column 6. In other languages a line that closes a parenthesis belongs to the line that
 * opened it. Text of comments and strings is not code; comments of several lines are not
 * recognised.
 */
#include "view/annotate/annotate.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_LINES_UP = 40, MOST_LINES_OF_FUNCTION = 2000 };

enum form { FORM_C, FORM_FREE, FORM_FIXED };

static enum form form_of(const char *path)
{
    static const char *const fixed[] = {".f", ".for", ".ftn", ".f77", ".fpp"};
    const char *end = strrchr(path, '.');
    if (!end || (end[1] != 'f' && end[1] != 'F'))
        return FORM_C;
    for (size_t i = 0; i < PC_ARRAY_LEN(fixed); i++)
        if (!strcasecmp(end, fixed[i]))
            return FORM_FIXED;
    return FORM_FREE;
}

/* Code of a line, without blanks, comments and strings. */
struct code {
    char first, last; /* 0: there is none */
    int opened;       /* parentheses opened minus parentheses closed */
};

static bool is_comment(enum form form, const char *at)
{
    return form == FORM_C ? at[0] == '/' && (at[1] == '/' || at[1] == '*') : *at == '!';
}

static struct code read_code(enum form form, const char *text)
{
    struct code c = {0};
    char quote = 0;
    for (; *text; text++) {
        if (!quote && is_comment(form, text))
            break;
        if (*text == ' ' || *text == '\t' || *text == '\r')
            continue;
        c.first = c.first ? c.first : *text;
        c.last = *text;
        if (quote && form == FORM_C && *text == '\\' && text[1])
            text++;
        else if (quote)
            quote = *text == quote ? 0 : quote;
        else if (*text == '"' || *text == '\'')
            quote = *text;
        else
            c.opened += (*text == '(') - (*text == ')');
    }
    return c;
}

/* True for a line of fixed form without a statement. */
static bool is_fixed_comment(const char *text)
{
    return strchr("cC*!dD#", *text) || read_code(FORM_FIXED, text).first == 0;
}

/* True for a continuation line: a mark in column 6, or a digit after a tab. */
static bool is_fixed_continued(const char *text)
{
    if (*text == '\t')
        return text[1] >= '1' && text[1] <= '9';
    return strspn(text, " ") >= 5 && text[5] && text[5] != ' ' && text[5] != '0';
}

static uint32_t find_fixed(const struct pct_source *s, uint32_t line, uint32_t end)
{
    uint32_t first = line;
    while (is_fixed_continued(s->lines[first - 1])) {
        uint32_t up = first - 1;
        while (up > end && is_fixed_comment(s->lines[up - 1]))
            up--;
        if (up <= end)
            return line;
        first = up;
    }
    return first;
}

static uint32_t find_free(const struct pct_source *s, uint32_t line, uint32_t end)
{
    uint32_t first = line;
    for (uint32_t up = line - 1; up > end; up--) {
        struct code c = read_code(FORM_FREE, s->lines[up - 1]);
        if (c.first && c.last != '&')
            break;
        first = c.first ? up : first;
    }
    return first;
}

static uint32_t find_opening(const struct pct_source *s, uint32_t line, uint32_t end)
{
    int open = 0;
    for (uint32_t up = line; up > end; up--) {
        open += read_code(FORM_C, s->lines[up - 1]).opened;
        if (open >= 0)
            return up;
    }
    return line;
}

uint32_t pct_source_statement(const struct pct_source *s, const char *path, uint32_t line)
{
    uint32_t end = line > MOST_LINES_UP ? line - MOST_LINES_UP : 0;
    if (!line || line > s->n)
        return line;
    switch (form_of(path)) {
    case FORM_FIXED:
        return find_fixed(s, line, end);
    case FORM_FREE:
        return find_free(s, line, end);
    default:
        return find_opening(s, line, end);
    }
}

/* ---- Functions ------------------------------------------------------------------------------- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The place of a name as a word of a line, as the language compares names; NULL: none. */
static const char *find_word(const char *text, const char *name, enum form form)
{
    size_t n = strlen(name);
    for (const char *at = text; *at; at++) {
        bool same = form == FORM_C ? !strncmp(at, name, n) : !strncasecmp(at, name, n);
        if (same && !in_word(at[n]) && (at == text || !in_word(at[-1])))
            return at;
    }
    return NULL;
}

/* True for a definition of the function. Calls and declarations end in a semicolon or are inside a
 * statement; a definition does not. */
static bool defines(const char *text, const char *name, enum form form)
{
    const char *at = find_word(text, name, form);
    if (!at)
        return false;
    if (form != FORM_C) {
        const char *kind = find_word(text, "subroutine", form);
        kind = kind ? kind : find_word(text, "function", form);
        return kind && kind < at && !find_word(text, "end", form);
    }
    const char *behind = at + strlen(name);
    behind += strspn(behind, " \t");
    const char *returns = find_word(text, "return", form);
    if (*behind != '(' || memchr(text, '=', (size_t)(at - text)) || (returns && returns < at))
        return false;
    return strchr(text, '{') || read_code(form, text).last != ';';
}

uint32_t pct_source_function(const struct pct_source *s, const char *path, const char *name,
                             uint32_t line)
{
    uint32_t end = line > MOST_LINES_OF_FUNCTION ? line - MOST_LINES_OF_FUNCTION : 0;
    enum form form = form_of(path);
    for (uint32_t up = line <= s->n ? line : 0; *name && up > end; up--)
        if (defines(s->lines[up - 1], name, form))
            return up;
    return 0;
}
