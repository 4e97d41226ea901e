/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of options: words, numbers, percentages, and the refusal of other texts.
 */
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "command/command.h"
#include "view/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

unsigned pct_value_word(const struct pct_option *o, const char *value)
{
    unsigned i = 0;
    size_t n = strlen(value);
    for (const char *s = o->words ? o->words : o->argument; *s; i++) {
        size_t length = strcspn(s, "|");
        if (n == length && !memcmp(s, value, n))
            return i;
        s += length + (s[length] == '|');
    }
    return i;
}

int pct_value_number(const struct pct_command *self, const struct pct_option *o, const char *value,
                     uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < least || n > most)
        return pct_refuse(self, "--%s %s: give a whole number%s from %llu to %llu", o->name,
                          pct_typed(value), strcmp(o->argument, "MS") ? "" : " of milliseconds",
                          (unsigned long long)least, (unsigned long long)most);
    *out = n;
    return PCT_DONE;
}

/* Refuses a list of ids. A name that is given in its place can be looked up. */
static int refuse_ids(const struct pct_command *self, const char *option, const char *list)
{
    struct pct_buf cure = {0};
    if (!strcmp(option, "pid") && !strpbrk(list, "0123456789,")) {
        pct_buf_text(&cure, "; `pgrep -d, ");
        pct_text_shell(&cure, list);
        pct_buf_text(&cure, "` prints those of a name");
    }
    int status = pct_refuse(self, "--%s: '%s' is not a list of ids, such as 12,34%s", option, list,
                            cure.data ? cure.data : "");
    pct_buf_free(&cure);
    return status;
}

int pct_value_ids(const struct pct_command *self, const char *option, const char *list, int **ids,
                  size_t *n)
{
    size_t room = 0;
    *ids = NULL;
    *n = 0;
    for (const char *p = list; *p;) {
        char *end;
        errno = 0;
        long id = strtol(p, &end, 10);
        if (end == p || errno || id < 1 || id > INT32_MAX || (*end && *end != ','))
            return refuse_ids(self, option, list);
        p = *end ? end + 1 : end;
        size_t same = 0;
        while (same < *n && (*ids)[same] != id)
            same++;
        if (same < *n)
            continue;
        *ids = pct_grow(*ids, *n, &room, sizeof **ids);
        (*ids)[(*n)++] = (int)id;
    }
    return *n ? PCT_DONE : pct_refuse(self, "--%s: the list is empty", option);
}

/* Reads a percentage, independent of the locale's decimal point. */
int pct_value_percent_in(const struct pct_command *self, const struct pct_option *o,
                         const char *given, const char *value, uint64_t most, uint64_t *out)
{
    uint64_t whole = 0, part = 0, digits = 0, unit = 100;
    const char *s = value;
    bool exact = true;
    for (; *s >= '0' && *s <= '9' && whole <= most; s++, digits++)
        whole = whole * 10 + (uint64_t)(*s - '0');
    if (*s == '.') {
        for (s++; *s >= '0' && *s <= '9'; s++, digits++, unit /= 10) {
            part += (uint64_t)(*s - '0') * unit;
            exact &= unit || *s == '0';
        }
    }
    s += *s == '%';
    if (*s || !digits || !exact || whole * 1000 + part > most * 1000)
        return pct_refuse(self, "--%s %s: give a percentage from 0 to %llu%s", o->name,
                          pct_typed(given), (unsigned long long)most,
                          exact ? "" : ", with three decimals at most");
    *out = whole * 1000 + part;
    return PCT_DONE;
}

int pct_value_percent(const struct pct_command *self, const struct pct_option *o, const char *value,
                      uint64_t most, uint64_t *out)
{
    return pct_value_percent_in(self, o, value, value, most, out);
}

int pct_refuse_word(const struct pct_command *self, const char *option, const char *value,
                    pct_words_fn *next, const void *arg)
{
    struct pct_buf why = {0};
    pct_unknown_word(&why, option, value, next, arg);
    pct_refuse(self, "%s", why.data);
    pct_buf_free(&why);
    return PCT_CALL;
}
