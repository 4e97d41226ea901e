/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shortening names of C++: see short_name.h. A name is read from left to right, with a count of the
 * brackets that are open; the signs in an operator's name do not count.
 */
#include "analysis/symbols/short_name.h"

#include <ctype.h>
#include <string.h>

static const char word[] = "operator", unnamed[] = "(anonymous namespace)";

/* Bytes of "operator<<", "operator()", "operator->" and kin, which are part of a name; 0 if none
 * begins here. */
static size_t operator_bytes(const char *s, const char *begin)
{
    static const char *const signs[] = {"<<=", ">>=", "<=>", "->*", "<<", ">>",
                                        "<=",  ">=",  "->",  "()",  "<",  ">"};
    size_t n = sizeof word - 1;
    bool inside = s > begin && (isalnum((unsigned char)s[-1]) || s[-1] == '_');
    if (inside || strncmp(s, word, n) != 0)
        return 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(signs); i++)
        if (!strncmp(s + n, signs[i], strlen(signs[i])))
            return n + strlen(signs[i]);
    return 0;
}

/* Start of the name behind a type that the function returns: the demangled names of templates
 * have one. */
static size_t name_begin(const char *name, size_t n)
{
    size_t begin = 0;
    unsigned depth = 0;
    for (size_t i = 0; i < n; i++) {
        size_t whole = operator_bytes(name + i, name);
        if (whole || !strncmp(name + i, word, sizeof word - 1))
            break;
        if (name[i] == '(' && !depth && !strncmp(name + i, unnamed, sizeof unnamed - 1)) {
            i += sizeof unnamed - 2;
            continue;
        }
        if (name[i] == '(' && !depth)
            break;
        depth += name[i] == '<' || name[i] == '(';
        depth -= depth && (name[i] == '>' || name[i] == ')');
        if (name[i] == ' ' && !depth)
            begin = i + 1;
    }
    return begin;
}

/* Without what stands in brackets. "(anonymous namespace)" is a name. */
static void put_folded(struct pct_buf *b, const char *name, size_t n)
{
    unsigned depth = 0;
    for (size_t i = name_begin(name, n); i < n; i++) {
        const char *s = name + i;
        size_t whole = operator_bytes(s, name);
        if (!whole && !strncmp(s, unnamed, sizeof unnamed - 1))
            whole = sizeof unnamed - 1;
        bool open = !whole && (*s == '<' || *s == '(');
        bool close = !whole && depth && (*s == ')' || (*s == '>' && s[-1] != '-'));
        if (open && !depth)
            pct_buf_text(b, *s == '<' ? "<>" : "()");
        else if (!depth)
            pct_buf_put(b, s, whole ? whole : 1);
        depth += open;
        depth -= close;
        i += whole ? whole - 1 : 0;
    }
}

static void put_label(struct pct_buf *b, const char *label, size_t n)
{
    const char *at = memchr(label, '@', n);
    size_t name = at ? (size_t)(at - label) : n;
    char *copy = pct_alloc(name + 1, 1);
    memcpy(copy, label, name);
    if (pct_text_cells(copy) > PCT_WHOLE_NAME)
        put_folded(b, label, name);
    else
        pct_buf_put(b, label, name);
    pct_buf_put(b, label + name, n - name);
    pct_free(copy);
}

void pct_short_name(struct pct_buf *b, const char *name)
{
    put_label(b, name, strlen(name));
}

void pct_short_path(struct pct_buf *b, const char *labels)
{
    static const char between[] = " > ";
    pct_buf_put(b, "", 0);
    for (const char *next; labels; labels = next) {
        next = strstr(labels, between);
        put_label(b, labels, next ? (size_t)(next - labels) : strlen(labels));
        if (next)
            pct_buf_text(b, between);
        next = next ? next + sizeof between - 1 : NULL;
    }
}
