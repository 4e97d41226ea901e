/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Readable names of Rust, of its older symbols (_ZN4core3fmt5write17h0123456789abcdefE) and of the
 * newer ones, called v0 (_RNvNtC4core3fmt5write; rfcs/2603 of Rust has the grammar). Hashes of
 * crates and of instances are left out: they differ from build to build. Arguments stand as debug
 * information writes them, `total<u32>`, and a method as `Type::method`.
 *
 * A symbol that is not understood to its end has no readable name. Names can refer to parts of
 * themselves, so that a short symbol can stand for a name of any length: one that is longer than
 * MOST_BYTES has none.
 */
#include "config.h"

#include "analysis/symbols/short_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16384, MOST_STEPS = 65536, DEEPEST = 200, HASH_DIGITS = 16 };

/* A symbol while it is read. */
struct reader {
    const char *s; /* behind the prefix */
    size_t at, n;
    struct pct_buf out;
    unsigned depth, steps;
    unsigned silent; /* parts around this one that are read and not written */
    uint64_t bound;  /* lifetimes that `for<...>` around this part has named */
    bool bad;
};

static bool eat(struct reader *r, char c)
{
    bool is = r->at < r->n && r->s[r->at] == c;
    r->at += is;
    return is;
}

static char next(struct reader *r)
{
    r->bad |= r->at >= r->n;
    return r->bad ? '\0' : r->s[r->at++];
}

/* True as long as a list goes on: up to its end mark, or to where the symbol is not understood. */
static bool goes_on(struct reader *r)
{
    return !r->bad && !eat(r, 'E');
}

static void put_bytes(struct reader *r, const char *text, size_t n)
{
    r->bad |= r->out.n + n > MOST_BYTES;
    if (!r->silent && !r->bad)
        pct_buf_put(&r->out, text, n);
}

static void put(struct reader *r, const char *text)
{
    put_bytes(r, text, strlen(text));
}

static void put_number(struct reader *r, uint64_t number)
{
    char text[24];
    pc_format(text, sizeof text, "%llu", (unsigned long long)number);
    put(r, text);
}

static bool enter(struct reader *r)
{
    r->bad |= ++r->depth > DEEPEST || ++r->steps > MOST_STEPS;
    return !r->bad;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static uint64_t read_decimal(struct reader *r)
{
    uint64_t number = 0;
    if (eat(r, '0'))
        return 0;
    r->bad |= r->at >= r->n || !isdigit((unsigned char)r->s[r->at]);
    while (!r->bad && r->at < r->n && isdigit((unsigned char)r->s[r->at])) {
        number = number * 10 + (uint64_t)(r->s[r->at++] - '0');
        r->bad |= number > r->n;
    }
    return number;
}

/* A number to the base 62 and an underscore, which alone is 0. */
static uint64_t read_base62(struct reader *r)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t number = 0;
    if (eat(r, '_'))
        return 0;
    while (!r->bad && !eat(r, '_')) {
        char c = next(r);
        const char *digit = c ? strchr(digits, c) : NULL;
        r->bad |= !digit || number > UINT64_MAX / 62 - 62;
        if (!r->bad)
            number = number * 62 + (uint64_t)(digit - digits);
    }
    return number + 1;
}

/* The number behind a mark, from 1; 0: there is no mark. */
static uint64_t read_marked(struct reader *r, char mark)
{
    return eat(r, mark) ? read_base62(r) + 1 : 0;
}

struct word {
    const char *text;
    size_t n;
    bool punycode;
};

static struct word read_word(struct reader *r)
{
    bool punycode = eat(r, 'u');
    size_t n = (size_t)read_decimal(r);
    eat(r, '_');
    r->bad |= n > r->n - r->at;
    struct word w = {r->s + r->at, r->bad ? 0 : n, punycode};
    r->at += w.n;
    return w;
}

/* Writes a word; letters that are not ASCII stay as the symbol has them. */
static void put_word(struct reader *r, struct word w)
{
    put(r, w.punycode ? "punycode{" : "");
    put_bytes(r, w.text, w.n);
    put(r, w.punycode ? "}" : "");
}

/* ---- Paths, types and constants -------------------------------------------------------------- */

static bool read_path(struct reader *r, bool stays_open);
static void read_type(struct reader *r);
static void read_constant(struct reader *r);

/* Goes to the earlier part that a part refers to. Returns where to go on then. */
static size_t go_back(struct reader *r)
{
    size_t begin = r->at - 1;
    uint64_t to = read_base62(r);
    size_t behind = r->at;
    r->bad |= to >= begin;
    r->at = r->bad ? r->n : (size_t)to;
    return behind;
}

/* Writes a lifetime: 0 is one that is not told, others are counted from the innermost. */
static void put_lifetime(struct reader *r, uint64_t lifetime)
{
    r->bad |= lifetime > r->bound;
    uint64_t number = r->bad || !lifetime ? 0 : r->bound - lifetime;
    char letter[] = {'\'', !lifetime ? '_' : number < 26 ? (char)('a' + number) : '_', '\0'};
    put(r, letter);
    if (lifetime && number >= 26)
        put_number(r, number);
}

/* Reads the lifetimes of `for<...>`. Returns their number: the caller takes them back. */
static uint64_t read_binder(struct reader *r)
{
    uint64_t n = read_marked(r, 'G');
    r->bad |= n > 64;
    if (!n || r->bad)
        return 0;
    put(r, "for<");
    for (uint64_t i = 0; i < n; i++) {
        r->bound++;
        put(r, i ? ", " : "");
        put_lifetime(r, 1);
    }
    put(r, "> ");
    return n;
}

static void read_argument(struct reader *r)
{
    if (eat(r, 'L'))
        put_lifetime(r, read_base62(r));
    else if (eat(r, 'K'))
        read_constant(r);
    else
        read_type(r);
}

/* Reads a name within another one. Upper case marks what has no name of its own, as a closure. */
static void read_nested(struct reader *r)
{
    char space = next(r);
    read_path(r, false);
    uint64_t number = read_marked(r, 's');
    struct word w = read_word(r);
    if (islower((unsigned char)space)) {
        put(r, w.n ? "::" : "");
        put_word(r, w);
        return;
    }
    put(r, "::{");
    if (space == 'C' || space == 'S')
        put(r, space == 'C' ? "closure" : "shim");
    else
        put_bytes(r, &space, 1);
    put(r, w.n ? ":" : "");
    put_word(r, w);
    put(r, "#");
    put_number(r, number);
    put(r, "}");
}

/* Reads what an `impl` is for, and its trait. Brackets are left out where a path stands alone. */
static void read_implementation(struct reader *r, char tag)
{
    if (tag != 'Y') {
        read_marked(r, 's');
        r->silent++;
        read_path(r, false);
        r->silent--;
    }
    bool alone = tag == 'M' && r->at < r->n && strchr("CNMXYI", r->s[r->at]);
    size_t at = r->at;
    if (tag == 'M' && !alone && eat(r, 'B')) { /* a path, or another type: look there */
        go_back(r);
        alone = !r->bad && strchr("CNMXYI", r->s[r->at]);
        r->at = at;
    }
    put(r, alone ? "" : "<");
    read_type(r);
    if (tag != 'M') {
        put(r, " as ");
        read_path(r, false);
    }
    put(r, alone ? "" : ">");
}

/* Reads a path. `stays_open`: the bracket of its arguments is left open, if it has some. Returns
 * true if it is open. */
static bool read_path(struct reader *r, bool stays_open)
{
    bool open = false;
    size_t behind;
    char tag = next(r);
    if (!enter(r))
        return false;
    switch (tag) {
    case 'C':
        read_marked(r, 's');
        put_word(r, read_word(r));
        break;
    case 'N':
        read_nested(r);
        break;
    case 'M':
    case 'X':
    case 'Y':
        read_implementation(r, tag);
        break;
    case 'I':
        read_path(r, false);
        put(r, "<");
        for (bool first = true; goes_on(r); first = false) {
            put(r, first ? "" : ", ");
            read_argument(r);
        }
        put(r, stays_open ? "" : ">");
        open = stays_open;
        break;
    case 'B':
        behind = go_back(r);
        if (!r->silent)
            open = read_path(r, stays_open);
        r->at = behind;
        break;
    default:
        r->bad = true;
    }
    r->depth--;
    return open;
}

static const char *basic_type(char tag)
{
    static const char *const names[] = {"i8",   "bool",  "char",  "f64", "str", "f32", NULL,
                                        "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
                                        "u128", "_",     NULL,    NULL,  "i16", "u16", "()",
                                        "...",  NULL,    "i64",   "u64", "!"};
    return islower((unsigned char)tag) ? names[tag - 'a'] : NULL;
}

static void read_function_type(struct reader *r)
{
    uint64_t n_bound = read_binder(r);
    bool first = true;
    put(r, eat(r, 'U') ? "unsafe " : "");
    if (eat(r, 'K')) {
        put(r, "extern \"");
        if (eat(r, 'C'))
            put(r, "C");
        else
            put_word(r, read_word(r));
        put(r, "\" ");
    }
    put(r, "fn(");
    for (; goes_on(r); first = false) {
        put(r, first ? "" : ", ");
        read_type(r);
    }
    put(r, ")");
    if (!eat(r, 'u')) {
        put(r, " -> ");
        read_type(r);
    }
    r->bound -= n_bound;
}

static void read_dynamic_type(struct reader *r)
{
    put(r, "dyn ");
    uint64_t n_bound = read_binder(r);
    for (bool first = true; goes_on(r); first = false) {
        put(r, first ? "" : " + ");
        bool open = read_path(r, true);
        while (!r->bad && eat(r, 'p')) {
            put(r, open ? ", " : "<");
            open = true;
            put_word(r, read_word(r));
            put(r, " = ");
            read_type(r);
        }
        put(r, open ? ">" : "");
    }
    r->bound -= n_bound;
    r->bad |= !eat(r, 'L');
    uint64_t lifetime = read_base62(r);
    if (lifetime && !r->bad) {
        put(r, " + ");
        put_lifetime(r, lifetime);
    }
}

static void read_list_type(struct reader *r, char tag)
{
    size_t n = 0;
    put(r, tag == 'T' ? "(" : "[");
    if (tag == 'T') {
        for (; goes_on(r); n++) {
            put(r, n ? ", " : "");
            read_type(r);
        }
        put(r, n == 1 ? ",)" : ")");
        return;
    }
    read_type(r);
    if (tag == 'A') {
        put(r, "; ");
        read_constant(r);
    }
    put(r, "]");
}

static void read_reference(struct reader *r, char tag)
{
    uint64_t lifetime = eat(r, 'L') ? read_base62(r) : 0;
    put(r, "&");
    if (lifetime) {
        put_lifetime(r, lifetime);
        put(r, " ");
    }
    put(r, tag == 'Q' ? "mut " : "");
    read_type(r);
}

static void read_type(struct reader *r)
{
    char tag = next(r);
    const char *basic = basic_type(tag);
    size_t behind;
    if (basic)
        put(r, basic);
    else if (!enter(r))
        return;
    else if (tag == 'R' || tag == 'Q')
        read_reference(r, tag);
    else if (tag == 'P' || tag == 'O') {
        put(r, tag == 'P' ? "*const " : "*mut ");
        read_type(r);
    } else if (tag == 'A' || tag == 'S' || tag == 'T')
        read_list_type(r, tag);
    else if (tag == 'F')
        read_function_type(r);
    else if (tag == 'D')
        read_dynamic_type(r);
    else if (tag == 'B') {
        behind = go_back(r);
        if (!r->silent)
            read_type(r);
        r->at = behind;
    } else {
        r->at--;
        read_path(r, false);
    }
    r->depth -= !basic;
}

/* Reads a number in hexadecimal digits and an underscore. */
static void read_number(struct reader *r, bool is_signed)
{
    uint64_t number = 0;
    size_t n = 0;
    put(r, is_signed && eat(r, 'n') ? "-" : "");
    const char *digits = r->s + r->at;
    for (char c; !r->bad && !eat(r, '_'); n++) {
        c = next(r);
        r->bad |= !isdigit((unsigned char)c) && (c < 'a' || c > 'f');
        number = number * 16 + (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
    }
    if (n <= 16)
        put_number(r, number);
    else {
        put(r, "0x");
        put_bytes(r, digits, r->bad ? 0 : n);
    }
}

static void read_constant(struct reader *r)
{
    size_t behind;
    char tag = next(r);
    if (!enter(r))
        return;
    if (tag == 'p')
        put(r, "_");
    else if (tag == 'B') {
        behind = go_back(r);
        if (!r->silent)
            read_constant(r);
        r->at = behind;
    } else if (tag == 'b') {
        char value = next(r);
        put(r, value == '1' ? "true" : "false");
        r->bad |= (value != '0' && value != '1') || !eat(r, '_');
    } else if (tag && strchr("aslxnihtmyoj", tag))
        read_number(r, strchr("aslxni", tag));
    else
        r->bad = true; /* of a type of its own: rare */
    r->depth--;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

/* Reads a symbol behind _R. The crate that made the instance is not written. */
static void read_v0(struct reader *r)
{
    read_path(r, false);
    r->silent++;
    if (!r->bad && r->at < r->n && isupper((unsigned char)r->s[r->at]))
        read_path(r, false);
    r->silent--;
}

/* Writes the sign that `$...$` stands for. Returns its bytes; 0: it stands for none. */
static size_t put_sign(struct reader *r, const char *s, size_t n)
{
    static const struct {
        char name[3], sign;
    } signs[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
                 {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};
    const char *end = n > 1 ? memchr(s + 1, '$', n - 1) : NULL;
    size_t bytes = end ? (size_t)(end - s) - 1 : 0;
    char sign = '\0';
    for (size_t i = 0; i < PC_ARRAY_LEN(signs); i++)
        if (bytes && bytes == strlen(signs[i].name) && !memcmp(s + 1, signs[i].name, bytes))
            sign = signs[i].sign;
    if (bytes == 3 && s[1] == 'u' && isxdigit((unsigned char)s[2]) && isxdigit((unsigned char)s[3]))
        sign = (char)strtoul((char[]){s[2], s[3], '\0'}, NULL, 16);
    if (sign < ' ' || sign > '~')
        return 0;
    put_bytes(r, &sign, 1);
    return bytes + 2;
}

static void put_old_word(struct reader *r, struct word w)
{
    size_t bytes, i = w.n > 1 && w.text[0] == '_' && w.text[1] == '$';
    for (; i < w.n; i += bytes) {
        const char *s = w.text + i;
        bytes = *s == '$' ? put_sign(r, s, w.n - i) : 0;
        if (bytes)
            continue;
        bytes = w.n - i > 1 && s[0] == '.' && s[1] == '.' ? 2 : 1;
        put_bytes(r, bytes == 2 ? "::" : s, bytes);
    }
}

static bool is_hash(struct word w)
{
    bool is = w.n == HASH_DIGITS + 1 && w.text[0] == 'h';
    for (size_t i = 1; is && i < w.n; i++)
        is = isdigit((unsigned char)w.text[i]) || (w.text[i] >= 'a' && w.text[i] <= 'f');
    return is;
}

/* Reads a symbol behind _ZN. The last word, a hash, tells it from one of C++. */
static void read_old(struct reader *r)
{
    struct word w = {NULL, 0, false};
    while (goes_on(r)) {
        if (w.n) {
            put_old_word(r, w);
            put(r, "::");
        }
        w = (struct word){NULL, (size_t)read_decimal(r), false};
        r->bad |= !w.n || w.n > r->n - r->at;
        w.text = r->s + r->at;
        r->at += r->bad ? 0 : w.n;
    }
    r->bad |= !w.n || r->bad || !is_hash(w) || r->out.n < 2;
    if (!r->bad)
        r->out.data[r->out.n -= 2] = '\0';
}

/* Appends the marks of copies, ".cold", but for the number of the part of a crate, ".llvm.123". */
static void put_rest(struct pct_buf *b, const char *rest)
{
    static const char part[] = ".llvm.";
    const char *at = strstr(rest, part);
    pct_buf_put(b, rest, at ? (size_t)(at - rest) : strlen(rest));
    if (at)
        pct_buf_text(b, at + strlen(part) + strspn(at + strlen(part), "0123456789"));
}

const char *pct_rust_name(const char *symbol, struct pct_pool *pool)
{
    bool old = !strncmp(symbol, "_ZN", 3);
    if (!old && (strncmp(symbol, "_R", 2) || !isupper((unsigned char)symbol[2])))
        return NULL;
    struct reader r = {.s = symbol + (old ? 3 : 2)};
    const char *kept = NULL;
    r.n = old ? strlen(r.s) : strcspn(r.s, "."); /* words of the older ones have dots */
    if (old)
        read_old(&r);
    else
        read_v0(&r);
    const char *rest = r.s + r.at;
    if (!r.bad && r.out.n && (!*rest || *rest == '.')) {
        put_rest(&r.out, rest);
        kept = pct_pool_intern(pool, r.out.data);
    }
    pct_buf_free(&r.out);
    return kept;
}
