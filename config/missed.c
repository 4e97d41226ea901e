/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names that -NAME was to remove from a list, which does not have them, as words of one text:
 * "SECTION:KEY:NAME ". The parser of lists notes them; the command looks them up, because the
 * library knows no names.
 */
#include "config/config_private.h"

#include <string.h>

void pc_config_note_missed(struct pc_config *c, const struct pc_option *o, const char *name,
                           size_t n)
{
    size_t at = strlen(c->missed);
    if (at + strlen(o->section) + strlen(o->key) + n + 3 >= sizeof c->missed)
        return;
    at += pc_format(c->missed + at, sizeof c->missed - at, "%s:%s:", o->section, o->key);
    memcpy(c->missed + at, name, n);
    memcpy(c->missed + at + n, " ", 2);
}

/* Copies up to the mark and returns the text behind it. */
static const char *take(const char *text, char mark, char *out)
{
    size_t n = (size_t)(strchr(text, mark) - text);
    memcpy(out, text, n);
    out[n] = '\0';
    return text + n + 1;
}

bool pc_config_next_missed(const struct pc_config *c, size_t *next, struct pc_config_missed *out)
{
    const char *word = c->missed + *next;
    if (!*word)
        return false;
    word = take(word, ':', out->section);
    word = take(word, ':', out->key);
    word = take(word, ' ', out->name);
    *next = (size_t)(word - c->missed);
    return true;
}
