/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of options: from text and to text, by type. An error text gives the reason and a valid
 * form; the caller adds the place.
 */
#include "config/config_private.h"

#include <string.h>

/* ---- Numbers -------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},          {"B", 1},        {"K", 1 << 10},   {"KB", 1 << 10},
    {"KiB", 1 << 10}, {"M", 1 << 20},  {"MB", 1 << 20},  {"MiB", 1 << 20},
    {"G", 1 << 30},   {"GB", 1 << 30}, {"GiB", 1 << 30}, {NULL, 0},
};

static const struct unit frequency_units[] = {{"", 1}, {"Hz", 1}, {"kHz", 1000}, {NULL, 0}};

static const struct unit time_units[] = {{"", 1},     {"s", 1},     {"min", 60},
                                         {"h", 3600}, {"d", 86400}, {NULL, 0}};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};

static const struct unit *units_of(const struct pc_option *o)
{
    if (o->type == PC_OPTION_SIZE)
        return size_units;
    if (o->type == PC_OPTION_TIME)
        return time_units;
    return o->type == PC_OPTION_FREQUENCY ? frequency_units : no_units;
}

static const char *units_in_words(const struct pc_option *o)
{
    if (o->type == PC_OPTION_SIZE)
        return "a size is a whole number and B, K, M or G (powers of 1024), like 64M";
    if (o->type == PC_OPTION_FREQUENCY)
        return "a frequency is a whole number and Hz or kHz, like 100Hz, or off";
    if (o->type == PC_OPTION_TIME)
        return "a time is a whole number and s, min, h or d, like 10min, or off";
    return "this is a whole number of ";
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *a, const char *b)
{
    for (; lower(*a) == lower(*b); a++, b++)
        if (*a == '\0')
            return true;
    return false;
}

/* True if the text is a unit of an integer option: the word of its range, or % for percent. */
static bool is_own_unit(const struct pc_option *o, const char *text)
{
    return o->type == PC_OPTION_INTEGER &&
           (same_word(o->unit, text) || (!strcmp(o->unit, "percent") && !strcmp(text, "%")));
}

/* Says what is wrong with a part of a number, and what is right. */
static int refuse_number(const struct pc_option *o, const char *before, const char *part,
                         const char *after, struct pc_error *why)
{
    char shown[PC_SHOWN_BYTES];
    return pc_error_set(why, PC_EARG, "%s\"%s\"%s: %s%s", before, pc_config_shown(part, shown),
                        after, units_in_words(o), o->type == PC_OPTION_INTEGER ? o->unit : "");
}

/* Reads digits, blanks and a unit. *value_out is written on success; UINT64_MAX stands for a number
 * that does not fit. */
static int read_number(const struct pc_option *o, const char *text, uint64_t *value_out,
                       struct pc_error *why)
{
    uint64_t value = 0;
    const char *p = text;
    if ((o->type == PC_OPTION_FREQUENCY || o->type == PC_OPTION_TIME) && same_word(text, "off")) {
        *value_out = 0;
        return PC_OK;
    }
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            value = UINT64_MAX;
    if (p == text)
        return refuse_number(
            o, "", text,
            *p == '-' && p[1] >= '0' && p[1] <= '9' ? " is negative" : " is not a number", why);
    if (((*p == '.' || *p == ',') && p[1] >= '0' && p[1] <= '9') ||
        (p == text + 1 && *text == '0' && lower(*p) == 'x'))
        return refuse_number(o, "", text, " is not a whole number in decimal digits", why);
    while (pc_is_blank(*p))
        p++;
    const struct unit *u = units_of(o);
    if (is_own_unit(o, p))
        p = "";
    while (u->name && !same_word(u->name, p))
        u++;
    if (u->name == NULL)
        return refuse_number(o, "unknown unit ", p, "", why);
    if (__builtin_mul_overflow(value, u->factor, &value))
        value = UINT64_MAX;
    *value_out = value;
    return PC_OK;
}

/* Prints the number in the largest unit that divides it. */
static void print_number(const struct pc_option *o, uint64_t value, char *out, size_t n)
{
    const char *unit = "";
    if (o->type == PC_OPTION_SIZE) {
        static const char letters[4][2] = {"", "K", "M", "G"};
        int i = 0;
        for (; i < 3 && value && value % 1024 == 0; i++)
            value /= 1024;
        unit = letters[i];
    } else if (o->type == PC_OPTION_FREQUENCY && value) {
        unit = "Hz";
    } else if (o->type == PC_OPTION_TIME && value) {
        const struct unit *u = time_units;
        for (const struct unit *next = u; next->name; next++)
            u = value % next->factor ? u : next;
        value /= u->factor;
        unit = u->name;
    }
    pc_format(out, n, "%lu%s", (unsigned long)value, unit);
}

static int parse_number(const struct pc_option *o, const char *text, uint64_t *out,
                        struct pc_error *why)
{
    char shown[PC_SHOWN_BYTES], range[128];
    uint64_t value = 0;
    int err = read_number(o, text, &value, why);
    if (err)
        return err;
    pc_option_range(o, range, sizeof range);
    if (value < o->min || value > o->max)
        return pc_error_set(why, PC_EARG, "%s is too %s: give %s", pc_config_shown(text, shown),
                            value < o->min ? "small" : "large", range);
    *out = value;
    return PC_OK;
}

/* ---- Other types ---------------------------------------------------------------------------- */

static int parse_bool(const char *text, bool *out, struct pc_error *why)
{
    static const char *const words[2][4] = {{"no", "off", "false", "0"},
                                            {"yes", "on", "true", "1"}};
    char shown[PC_SHOWN_BYTES];
    for (int value = 0; value < 2; value++)
        for (int i = 0; i < 4; i++)
            if (same_word(text, words[value][i])) {
                *out = value;
                return PC_OK;
            }
    return pc_error_set(why, PC_EARG, "\"%s\" is neither yes nor no", pc_config_shown(text, shown));
}

static int parse_text(const struct pc_option *o, const char *text, char *out, struct pc_error *why)
{
    char shown[PC_SHOWN_BYTES];
    size_t n = strlen(text);
    if (n < o->min)
        return pc_error_set(why, PC_EARG, "the value is empty: give one, or leave the line out");
    if (n > o->max)
        return pc_error_set(why, PC_EARG, "the value is %zu bytes long; at most %lu are possible",
                            n, (unsigned long)o->max);
    if (o->type == PC_OPTION_FOLDER && *text != '/')
        return pc_error_set(why, PC_EARG,
                            "\"%s\" is a relative path, which each process would resolve from its "
                            "own folder: give an absolute one",
                            pc_config_shown(text, shown));
    int err = o->type == PC_OPTION_PATTERN ? pc_config_expand(text, NULL, NULL, 0, why) : PC_OK;
    if (err == PC_OK)
        memcpy(out, text, n + 1);
    return err;
}

/* Position where the n bytes at `item` are an item of the list that ends at `end`; NULL: nowhere.
 */
static const char *find_item(const char *list, const char *end, const char *item, size_t n)
{
    for (const char *p = list; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t length = (size_t)((comma ? comma : end) - p);
        if (length == n && memcmp(p, item, n) == 0)
            return p;
        p += length + 1;
    }
    return NULL;
}

static const char *skip_blanks(const char *p)
{
    while (pc_is_blank(*p))
        p++;
    return p;
}

/* The item that begins at *p; *p moves behind its comma, or to NULL after the last. */
static int next_item(const char **p, const char **item_out, size_t *n_out, struct pc_error *why)
{
    char shown[PC_SHOWN_BYTES];
    const char *item = skip_blanks(*p);
    size_t n = strcspn(item, ", \t");
    const char *behind = skip_blanks(item + n);
    if (*behind && *behind != ',')
        return pc_error_set(why, PC_EARG, "a comma is missing before \"%s\"",
                            pc_config_shown(behind, shown));
    *item_out = item;
    *n_out = n;
    *p = *behind ? behind + 1 : NULL;
    return PC_OK;
}

static char *add_item(char *list, char *end, const char *item, size_t n)
{
    if (end > list)
        *end++ = ',';
    memcpy(end, item, n);
    return end + n;
}

/* The list without the item at `at`, with one of the commas beside it. */
static char *remove_item(char *list, char *end, char *at, size_t n)
{
    char *behind = at + n;
    if (behind < end)
        behind++;
    else if (at > list)
        at--;
    memmove(at, behind, (size_t)(end - behind));
    return end - (behind - at);
}

static bool is_sign(char c)
{
    return c == '+' || c == '-';
}

static int refuse_signs(const char *text, struct pc_error *why)
{
    char shown[PC_SHOWN_BYTES];
    return pc_error_set(why, PC_EARG,
                        "\"%s\" has items with and without a sign: give +NAME and -NAME to change "
                        "the list, or all its names",
                        pc_config_shown(text, shown));
}

/* Applies +ITEM and -ITEM to the list; on failure some names may be noted. */
static int apply_changes(const struct pc_option *o, const char *text, struct pc_config *c,
                         struct pc_error *why)
{
    char list[PC_CONFIG_TEXT_BYTES], shown[PC_SHOWN_BYTES], *out = (char *)c + o->offset;
    char *end = list + pc_format(list, sizeof list, "%s", out);
    const char *item = text, *p = text;
    size_t n = 0;
    while (p) {
        int err = next_item(&p, &item, &n, why);
        if (err)
            return err;
        if (n < 2 || !is_sign(*item))
            return refuse_signs(text, why);
        if (is_sign(item[1]))
            return pc_error_set(why, PC_EARG, "\"%s\" has two signs before a name: give one",
                                pc_config_shown(text, shown));
        char *at = (char *)find_item(list, end, item + 1, n - 1);
        if (*item == '-' && at)
            end = remove_item(list, end, at, n - 1);
        else if (*item == '-')
            pc_config_note_missed(c, o, item + 1, n - 1);
        if (*item == '+' && !at && (size_t)(end - list) + n > o->max)
            return pc_error_set(why, PC_EARG, "the list is longer than %lu bytes",
                                (unsigned long)o->max);
        if (*item == '+' && !at)
            end = add_item(list, end, item + 1, n - 1);
    }
    *end = '\0';
    memcpy(out, list, (size_t)(end - list) + 1);
    return PC_OK;
}

static int parse_changes(const struct pc_option *o, const char *text, struct pc_config *c,
                         struct pc_error *why)
{
    size_t n = strlen(c->missed);
    int err = apply_changes(o, text, c, why);
    if (err)
        memset(c->missed + n, 0, sizeof c->missed - n);
    return err;
}

/* Reads a list: items without blanks, each once, joined by commas. */
static int parse_list(const struct pc_option *o, const char *text, struct pc_config *c,
                      struct pc_error *why)
{
    char list[PC_CONFIG_TEXT_BYTES], shown[PC_SHOWN_BYTES], *out = (char *)c + o->offset;
    char *end = list;
    const char *item = text, *p = *skip_blanks(text) ? text : NULL;
    size_t n = 0;
    if (strlen(text) > o->max)
        return pc_error_set(why, PC_EARG, "the list is %zu bytes long; at most %lu are possible",
                            strlen(text), (unsigned long)o->max);
    if (p && is_sign(*skip_blanks(text)))
        return parse_changes(o, text, c, why);
    while (p) {
        int err = next_item(&p, &item, &n, why);
        if (err)
            return err;
        if (n == 0)
            return pc_error_set(why, PC_EARG, "an item of the list \"%s\" is empty",
                                pc_config_shown(text, shown));
        if (is_sign(*item))
            return refuse_signs(text, why);
        if (find_item(list, end, item, n))
            return pc_error_set(why, PC_EARG, "\"%s\" has an item twice: remove one",
                                pc_config_shown(text, shown));
        end = add_item(list, end, item, n);
    }
    *end = '\0';
    memcpy(out, list, (size_t)(end - list) + 1);
    return PC_OK;
}

/* One of the words in o->unit. */
static int parse_choice(const struct pc_option *o, const char *text, char *out,
                        struct pc_error *why)
{
    char shown[PC_SHOWN_BYTES];
    size_t n = strlen(text);
    for (const char *word = o->unit; *word;) {
        size_t length = strcspn(word, ",");
        if (n == length && !strncmp(word, text, n)) {
            memcpy(out, text, n + 1);
            return PC_OK;
        }
        word += length;
        word += strspn(word, ", ");
    }
    return pc_error_set(why, PC_EARG, "\"%s\" is unknown; give one of %s",
                        pc_config_shown(text, shown), o->unit);
}

/* ---- By type -------------------------------------------------------------------------------- */

int pc_option_parse(const struct pc_option *o, const char *text, struct pc_config *c,
                    struct pc_error *why)
{
    void *field = (char *)c + o->offset;
    char shown[PC_SHOWN_BYTES];
    for (const char *p = text; *p; p++)
        if (*p == '"' || *p == 127 || ((unsigned char)*p < ' ' && *p != '\t'))
            return pc_error_set(why, PC_EARG,
                                "\"%s\" holds a double quote or a control character; values hold "
                                "neither",
                                pc_config_shown(text, shown));
    switch (o->type) {
    case PC_OPTION_BOOL:
        return parse_bool(text, field, why);
    case PC_OPTION_LIST:
        return parse_list(o, text, c, why);
    case PC_OPTION_SIZE:
    case PC_OPTION_INTEGER:
    case PC_OPTION_FREQUENCY:
    case PC_OPTION_TIME:
        return parse_number(o, text, field, why);
    case PC_OPTION_CHOICE:
        return parse_choice(o, text, field, why);
    case PC_OPTION_PATTERN:
    case PC_OPTION_FOLDER:
        break;
    }
    return parse_text(o, text, field, why);
}

void pc_option_print(const struct pc_option *o, const struct pc_config *c, char *out, size_t n)
{
    const char *field = (const char *)c + o->offset;
    switch (o->type) {
    case PC_OPTION_BOOL:
        pc_format(out, n, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case PC_OPTION_SIZE:
    case PC_OPTION_INTEGER:
    case PC_OPTION_FREQUENCY:
    case PC_OPTION_TIME:
        print_number(o, *(const uint64_t *)(const void *)field, out, n);
        break;
    case PC_OPTION_LIST:
    case PC_OPTION_CHOICE:
    case PC_OPTION_PATTERN:
    case PC_OPTION_FOLDER:
        pc_format(out, n, strchr(field, '#') ? "\"%s\"" : "%s", field);
    }
}

void pc_option_raw(const struct pc_option *o, const struct pc_config *c, char *out, size_t n)
{
    const char *field = (const char *)c + o->offset;
    bool number = o->type == PC_OPTION_BOOL || o->type == PC_OPTION_SIZE ||
                  o->type == PC_OPTION_INTEGER || o->type == PC_OPTION_FREQUENCY ||
                  o->type == PC_OPTION_TIME;
    if (number)
        pc_option_print(o, c, out, n);
    else
        pc_format(out, n, "%s", field);
}

void pc_option_range(const struct pc_option *o, char *out, size_t n)
{
    char min[32], max[32];
    switch (o->type) {
    case PC_OPTION_SIZE:
    case PC_OPTION_INTEGER:
    case PC_OPTION_FREQUENCY:
    case PC_OPTION_TIME:
        print_number(o, o->min, min, sizeof min);
        print_number(o, o->max, max, sizeof max);
        pc_format(out, n, "%s to %s%s%s", min, max, *o->unit ? " " : "", o->unit);
        break;
    case PC_OPTION_BOOL:
        pc_format(out, n, "yes or no");
        break;
    case PC_OPTION_LIST:
        pc_format(out, n, "%s separated by commas", o->unit);
        break;
    case PC_OPTION_FOLDER:
        pc_format(out, n, "an absolute path");
        break;
    case PC_OPTION_PATTERN:
        pc_format(out, n, "a path with %%x %%n %%j %%t");
        break;
    case PC_OPTION_CHOICE:
        pc_format(out, n, "%s", o->unit);
    }
}
