/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output patterns: %x.%n.pcol becomes solver.64.pcol. AS-safe: no time zone is looked up, times are
 * UTC.
 */
#include "config/config_private.h"

#include <string.h>

struct target {
    char *p, *end; /* p NULL: nothing is written */
    bool full;
};

static void put_char(struct target *t, char c)
{
    if (t->p == NULL)
        return;
    if (t->p + 1 < t->end)
        *t->p++ = c;
    else
        t->full = true;
}

/* Writes a value without the characters that would add folders to the path, since names of programs
 * and jobs are arbitrary. */
static void put_value(struct target *t, const char *value)
{
    for (; *value; value++)
        put_char(t, *value == '/' || (unsigned char)*value < ' ' || *value == 127 ? '_' : *value);
}

static void put_padded(struct target *t, unsigned value, unsigned digits)
{
    unsigned scale = 1;
    while (--digits)
        scale *= 10;
    for (; scale; scale /= 10)
        put_char(t, (char)('0' + value / scale % 10));
}

/* Writes the date of the proleptic Gregorian calendar from days since 1970-01-01. Years are counted
 * from March, so that the leap day is the last of its year. */
static void put_date(struct target *t, uint64_t days)
{
    uint64_t z = days + 719468;
    uint64_t era = z / 146097;
    unsigned day_of_era = (unsigned)(z - era * 146097);
    unsigned year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    unsigned march_month = (5 * day_of_year + 2) / 153;
    unsigned day = day_of_year - (153 * march_month + 2) / 5 + 1;
    unsigned month = march_month < 10 ? march_month + 3 : march_month - 9;
    put_padded(t, (unsigned)(era * 400) + year + (month <= 2), 4);
    put_padded(t, month, 2);
    put_padded(t, day, 2);
}

static void put_time(struct target *t, uint64_t realtime_ns)
{
    uint64_t s = realtime_ns / 1000000000u;
    unsigned in_day = (unsigned)(s % 86400);
    put_date(t, s / 86400);
    put_char(t, '-');
    put_padded(t, in_day / 3600, 2);
    put_padded(t, in_day / 60 % 60, 2);
    put_padded(t, in_day % 60, 2);
}

static void put_exe(struct target *t, const char *exe)
{
    const char *name = exe ? pc_base_name(exe) : "";
    put_value(t, *name && !strchr(name, '/') ? name : "program");
}

/* Writes the expansion of one letter; false if there is no such letter. */
static bool put_letter(struct target *t, char letter, const struct pc_config_names *names)
{
    char digits[16];
    if (letter == '%') {
        put_char(t, '%');
        return true;
    }
    if (letter == '\0' || strchr("xnjt", letter) == NULL)
        return false;
    if (names == NULL)
        return true;
    if (letter == 'x')
        put_exe(t, names->exe);
    if (letter == 'j')
        put_value(t, names->job && *names->job ? names->job : "nojob");
    if (letter == 't')
        put_time(t, names->realtime_ns);
    if (letter == 'n') {
        pc_format(digits, sizeof digits, "%d", names->n_ranks);
        put_value(t, digits);
    }
    return true;
}

bool pc_config_pattern(const char *path, char *out, size_t n)
{
    struct target t = {out, out + n, false};
    for (; *path; path++) {
        if (*path == '%')
            put_char(&t, '%');
        put_char(&t, *path);
    }
    *t.p = '\0';
    return !t.full;
}

int pc_config_expand(const char *pattern, const struct pc_config_names *names, char *out, size_t n,
                     struct pc_error *error)
{
    char whole[PC_CONFIG_TEXT_BYTES * 4], shown[PC_SHOWN_BYTES];
    struct target t = {names ? whole : NULL, whole + sizeof whole, false};
    for (const char *f = pattern; *f; f++) {
        if (*f != '%') {
            put_char(&t, *f);
            continue;
        }
        char letter[2] = {*++f, '\0'};
        if (!put_letter(&t, *letter, names))
            return pc_error_set(
                error, PC_EARG,
                "\"%%%s\" in \"%s\" stands for nothing; give %%x (executable), %%n (ranks), "
                "%%j (job id), %%t (start time) or %%%% (a percent sign)",
                letter, pc_config_shown(pattern, shown));
    }
    if (names == NULL)
        return PC_OK;
    size_t length = (size_t)(t.p - whole);
    if (t.full || length >= n)
        return pc_error_set(error, PC_ENOMEM, "the path made from \"%s\" is too long",
                            pc_config_shown(pattern, shown));
    memcpy(out, whole, length);
    out[length] = '\0';
    return PC_OK;
}
