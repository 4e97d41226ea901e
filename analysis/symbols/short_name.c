/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shortening names of C++ and Rust: see short_name.h. A name is read from left to right, with a
 * count of the brackets that are open; the signs in an operator's name do not count.
 */
#include "analysis/symbols/short_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "operator", unnamed[] = "(anonymous namespace)";

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '#' || (unsigned char)c >= 0x80;
}

/* Bytes of "operator<<", "operator()", "operator->" and kin, which are part of a name, and of the
 * word "operator" before other names; 0 if none begins here. */
static size_t operator_bytes(const char *s, const char *begin)
{
    static const char *const signs[] = {"<<=", ">>=", "<=>", "->*", "<<", ">>",
                                        "<=",  ">=",  "->",  "()",  "<",  ">"};
    size_t n = sizeof word - 1;
    if ((s > begin && is_word(s[-1])) || strncmp(s, word, n) != 0 || is_word(s[n]))
        return 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(signs); i++)
        if (!strncmp(s + n, signs[i], strlen(signs[i])))
            return n + strlen(signs[i]);
    return n;
}

/* Start of the name after the return type, which demangled names of templates have. */
static size_t name_begin(const char *name, size_t n)
{
    size_t begin = 0;
    unsigned depth = 0;
    if (*name == '<')
        return 0;
    for (size_t i = 0; i < n; i++) {
        size_t whole = operator_bytes(name + i, name);
        if (!depth && !whole && !strncmp(name + i, unnamed, sizeof unnamed - 1))
            whole = sizeof unnamed - 1;
        else if (!depth && (whole || name[i] == '('))
            break;
        if (whole) {
            i += whole - 1;
            continue;
        }
        depth += strchr("<({", name[i]) != NULL;
        depth -= depth && (strchr(")}", name[i]) || (name[i] == '>' && name[i - 1] != '-'));
        if (name[i] == ' ' && !depth)
            begin = i + 1;
    }
    return begin;
}

/* A part of a name that stays, if it is in brackets. */
struct part {
    size_t first, end;
    bool utf8;
};

/* The part of a bracket that stays; something before or after it may be left out. */
struct staying {
    struct pct_buf text;
    bool less_before, less_after;
};

/* Bytes of the arguments that have room in some cells, at least of the first; all of them if they
 * have. */
static size_t fitting_arguments(const char *text, size_t cells)
{
    size_t n = strlen(text), fitting = 0;
    unsigned depth = 0;
    if (pct_text_cells(text) <= cells)
        return n;
    for (size_t i = 0; i < n; i++) {
        depth += strchr("<({", text[i]) != NULL;
        depth -= depth && strchr(">)}", text[i]);
        if (!depth && text[i] == ',' && (!fitting || i < cells))
            fitting = i;
    }
    return fitting ? fitting : n;
}

static void put_closed(struct pct_buf *b, char open, struct staying *kept, bool utf8)
{
    const char *dots = utf8 ? "\xe2\x80\xa6" : "..";
    if (kept->text.n) {
        size_t n = fitting_arguments(kept->text.data, PCT_APART_CELLS);
        bool less_after = kept->less_after || n < kept->text.n;
        kept->text.data[n] = '\0';
        pct_buf_text(b, kept->less_before ? dots : "");
        pct_text_cut(b, kept->text.data, PCT_APART_CELLS, utf8);
        pct_buf_text(b, less_after ? dots : "");
    }
    pct_buf_clear(&kept->text);
    kept->less_before = kept->less_after = false;
    pct_buf_text(b, open == '<' ? ">" : ")");
}

/* Appends the name without the contents of brackets, but for `stays` in the first of them that it
 * is in, which may be NULL; `marked`: the brackets stay. "(anonymous namespace)" is a name, and so
 * is what a name of Rust begins with, "<Type as Trait>". */
static void put_folded(struct pct_buf *b, const char *name, size_t n, bool marked,
                       const struct part *stays)
{
    unsigned depth = 0;
    bool stayed = false;
    char outer = 0;
    struct staying kept = {.less_before = false};
    for (size_t i = name_begin(name, n); i < n; i++) {
        const char *s = name + i;
        size_t whole = operator_bytes(s, name);
        if (!whole && !strncmp(s, unnamed, sizeof unnamed - 1))
            whole = sizeof unnamed - 1;
        bool open = !whole && ((*s == '<' && i) || *s == '(');
        bool close = !whole && depth && (*s == ')' || (*s == '>' && s[-1] != '-'));
        if (open && !depth) {
            outer = *s;
            pct_buf_put(b, s, marked);
        } else if (!depth)
            pct_buf_put(b, s, whole ? whole : 1);
        else if (stays && !stayed && i >= stays->first && i < stays->end && !(close && depth == 1))
            pct_buf_put(&kept.text, s, whole ? whole : 1);
        else if (*s != ' ' && !(close && depth == 1))
            *(kept.text.n ? &kept.less_after : &kept.less_before) = true;
        depth += open;
        depth -= close;
        if (close && !depth && marked) {
            stayed |= kept.text.n > 0;
            put_closed(b, outer, &kept, stays && stays->utf8);
        }
        i += whole ? whole - 1 : 0;
    }
    if (depth && marked)
        put_closed(b, outer, &kept, stays && stays->utf8);
    pct_buf_free(&kept.text);
}

/* A name that is all brackets, as that of a region, stays whole. */
void pct_name_of_instances(struct pct_buf *b, const char *name)
{
    struct pct_buf folded = {0};
    pct_buf_put(&folded, "", 0);
    put_folded(&folded, name, strlen(name), true, NULL);
    pct_text_bounded(b, folded.n && strcmp(folded.data, "()") != 0 ? folded.data : name);
    pct_buf_free(&folded);
}

void pct_short_name(struct pct_buf *b, const char *name)
{
    if (pct_text_cells(name) > PCT_WHOLE_NAME)
        pct_name_of_instances(b, name);
    else
        pct_text_bounded(b, name);
}

void pct_name_put(struct pct_buf *b, const char *name, bool full)
{
    if (full)
        pct_text_bounded(b, name);
    else
        pct_short_name(b, name);
}

/* The begin of the function's own name, behind its namespaces and classes. */
static const char *find_own(const char *name)
{
    const char *own = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        depth += strchr("<([{", *at) != NULL;
        depth -= strchr(">)]}", *at) != NULL;
        if (!depth && at[0] == ':' && at[1] == ':' && at[2])
            own = at + 2;
    }
    return own;
}

static void cut_before(struct pct_buf *b, const char *name, size_t cells, bool utf8)
{
    const char *own = find_own(name), *dots = utf8 ? "\xe2\x80\xa6" : "..";
    size_t n_dots = utf8 ? 1 : 2, n = pct_text_cells(name);
    if (n <= cells || own == name || pct_text_cells(own) + n_dots > cells) {
        pct_text_cut(b, n <= cells ? name : own, cells, utf8);
        return;
    }
    pct_buf_text(b, dots);
    for (size_t i = n - (cells - n_dots); i; i--)
        do
            name++;
        while (((unsigned char)*name & 0xc0) == 0x80);
    pct_buf_text(b, name);
}

void pct_name_cut(struct pct_buf *b, const char *name, size_t cells, bool utf8)
{
    const char *clone = strstr(name, " [clone ");
    struct pct_buf plain = {0};
    if (clone && pct_text_cells(name) > cells)
        pct_buf_put(&plain, name, (size_t)(clone - name));
    cut_before(b, plain.n ? plain.data : name, cells, utf8);
    pct_buf_free(&plain);
}

/* ---- Names that are shortened to the same ---------------------------------------------------- */

/* Leaves in *first and *behind the bytes that the name has in common with another one, at its begin
 * and at its end. */
static void compare_ends(const char *name, const char *other, size_t *first, size_t *behind)
{
    size_t n = strlen(name), m = strlen(other), i = 0, k = 0;
    while (i < *first && name[i] == other[i])
        i++;
    while (k < *behind && k < n - i && k < m && name[n - 1 - k] == other[m - 1 - k])
        k++;
    *first = i;
    *behind = k;
}

/* Widens the part of a name from *begin to *end to whole words, to lambdas (`{lambda(int)#2}`) and
 * to casts (`(kind)3`). */
static void widen(const char *name, size_t *begin, size_t *end)
{
    size_t at = *begin;
    while (*begin && is_word(name[*begin - 1]))
        (*begin)--;
    while (is_word(name[*end]))
        (*end)++;
    while (at && !strchr("{}<>", name[at - 1]))
        at--;
    if (at && name[at - 1] == '{' && strchr(name + *end, '}')) {
        *begin = at - 1;
        while (name[(*end)++] != '}')
            ;
    }
    if (*begin && name[*begin - 1] == ')' && isdigit((unsigned char)name[*begin]))
        while (*begin && name[--*begin] != '(')
            ;
}

void pct_name_put_among(struct pct_buf *b, const char *name, const char *const *others, size_t n,
                        bool utf8)
{
    struct part stays = {strlen(name), 0, utf8};
    size_t bytes = strlen(name), behind = bytes;
    bool any = false;
    struct pct_buf shortened = {0}, other = {0};
    pct_short_name(&shortened, name);
    n = pct_text_cells(name) > PCT_WHOLE_NAME ? n : 0; /* else it stays whole */
    for (size_t i = 0; i < n; i++) {
        pct_buf_clear(&other);
        pct_short_name(&other, others[i]);
        if (!strcmp(others[i], name) || strcmp(other.data, shortened.data) != 0)
            continue;
        any = true;
        compare_ends(name, others[i], &stays.first, &behind);
    }
    stays.end = bytes - behind > stays.first ? bytes - behind : stays.first;
    if (any) {
        widen(name, &stays.first, &stays.end);
        pct_buf_clear(&shortened);
        put_folded(&shortened, name, bytes, true, &stays);
    }
    pct_text_bounded(b, shortened.data);
    pct_buf_free(&shortened);
    pct_buf_free(&other);
}

struct shortened {
    const char *text; /* interned */
    const char *name;
    size_t at;
};

static int compare_shortened(const void *a, const void *b)
{
    const struct shortened *x = a, *y = b;
    return x->text != y->text ? (x->text < y->text ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/* Tells n names apart that are shortened to the same. */
static void tell_apart(struct shortened *list, size_t n, bool utf8, struct pct_pool *pool)
{
    enum { MOST = 256 }; /* of many the first, so that a long table takes linear time */
    const char *others[MOST];
    size_t n_others = 0;
    for (size_t i = 0; i < n && n_others < MOST; i++)
        if (!n_others || strcmp(others[n_others - 1], list[i].name) != 0)
            others[n_others++] = list[i].name;
    for (size_t i = 0; i < n; i++) {
        struct pct_buf b = {0};
        pct_name_put_among(&b, list[i].name, others, n_others, utf8);
        list[i].text = pct_pool_intern(pool, b.data);
        pct_buf_free(&b);
    }
}

/* Tells the names apart that have the same text. The first arguments in which one differs from some
 * others can be the same as those of another: these are told apart from each other once more. */
static void tell_all_apart(struct shortened *list, size_t n, bool again, bool utf8,
                           struct pct_pool *pool)
{
    if (n)
        qsort(list, n, sizeof *list, compare_shortened);
    for (size_t first = 0, end; first < n; first = end) {
        bool differ = false;
        for (end = first + 1; end < n && list[end].text == list[first].text; end++)
            differ |= strcmp(list[end].name, list[first].name) != 0;
        if (!differ)
            continue;
        tell_apart(list + first, end - first, utf8, pool);
        if (!again)
            tell_all_apart(list + first, end - first, true, utf8, pool);
    }
}

const char **pct_names_shown(const char *const *names, size_t n, bool full, bool utf8,
                             struct pct_pool *pool)
{
    const char **out = pct_alloc(n, sizeof *out);
    struct shortened *list = pct_alloc(n, sizeof *list);
    size_t n_list = 0;
    struct pct_buf b = {0};
    for (size_t i = 0; i < n; i++) {
        if (!names[i])
            continue;
        pct_buf_clear(&b);
        pct_name_put(&b, names[i], full);
        list[n_list++] = (struct shortened){pct_pool_intern(pool, b.data), names[i], i};
    }
    pct_buf_free(&b);
    if (!full)
        tell_all_apart(list, n_list, false, utf8, pool);
    for (size_t i = 0; i < n_list; i++)
        out[list[i].at] = list[i].text;
    pct_free(list);
    return out;
}

/* ---- Names that are asked for ---------------------------------------------------------------- */

/* Appends the name without its brackets and a ` const` behind them. */
static void put_bare(struct pct_buf *b, const char *name)
{
    const char *last = strrchr(name, ')');
    pct_buf_put(b, "", 0);
    put_folded(b, name, last && last[1] == ' ' ? (size_t)(last + 1 - name) : strlen(name), false,
               NULL);
}

/* Bytes of a name up to the first of these marks behind its begin. */
static size_t bytes_before(const char *name, const char *const *marks, size_t n_marks)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n_marks; i++) {
        const char *mark = strstr(name, marks[i]);
        n = mark && mark != name && (size_t)(mark - name) < n ? (size_t)(mark - name) : n;
    }
    return n;
}

/* Marks of a copy of a function, of a part of one, and of the code in it that is rarely run. */
static const char *const copies[] = {".part.", ".constprop.", ".isra.", ".lto_priv.", ".cold"};

size_t pct_name_uncopied_bytes(const char *name)
{
    static const char clone[] = " [clone ";
    size_t n = bytes_before(name, copies, PC_ARRAY_LEN(copies)), before = strlen(clone);
    bool in_brackets = name[n] && n > before && !strncmp(name + n - before, clone, before);
    return in_brackets ? n - before : n;
}

bool pct_name_is_region(const char *name)
{
    static const char *const regions[] = {"._omp_fn.", ".omp_outlined", ".omp_task_entry"};
    return name[bytes_before(name, regions, PC_ARRAY_LEN(regions))] != '\0';
}

/* Bytes of the bracket that a text begins with; 0: it begins with none. */
static size_t bracket_bytes(const char *s)
{
    unsigned depth = 0;
    size_t n = 0;
    do {
        size_t whole = operator_bytes(s + n, s);
        depth += !whole && (s[n] == '<' || s[n] == '(');
        depth -= depth && !whole && (s[n] == ')' || (s[n] == '>' && s[n - 1] != '-'));
        n += !depth && !n ? 0 : whole ? whole : 1;
    } while (depth && s[n]);
    return n;
}

/* Appends a name without the underscore that Fortran adds to that of a procedure: `solve_`,
 * `solve_._omp_fn.0`. */
static void put_procedure(struct pct_buf *b, const char *name, size_t n)
{
    static const char *const region[] = {"._omp_fn."};
    size_t bare = bytes_before(name, region, 1);
    bare = bare < n ? bare : n;
    bool added = bare > 1 && name[bare - 1] == '_' && name[bare - 2] != '_' && name[0] != '_' &&
                 strcspn(name, ":( <") >= bare;
    pct_buf_put(b, name, bare - added);
    pct_buf_put(b, name + bare, n - bare);
}

void pct_name_of_builds(struct pct_buf *b, const char *name)
{
    static const char lambda[] = "{lambda", call[] = "}::operator()", constant[] = " const";
    struct pct_buf whole = {0};
    put_procedure(&whole, name, pct_name_uncopied_bytes(name));
    const char *s = whole.data + name_begin(whole.data, whole.n);
    pct_buf_put(b, "", 0);
    while (*s) {
        bool type = !strncmp(s, lambda, strlen(lambda)), calls = !strncmp(s, call, strlen(call));
        size_t n = type ? strlen(lambda) : calls ? strlen(call) : 1;
        if (calls && s[n] == '<')
            n += bracket_bytes(s + n);
        pct_buf_put(b, s, n);
        s += n;
        size_t parameters = (type || calls) && *s == '(' ? bracket_bytes(s) : 0;
        s += parameters;
        if (calls && parameters && !strncmp(s, constant, strlen(constant)))
            s += strlen(constant);
    }
    pct_buf_free(&whole);
}

/* Bytes of a bare name up to what marks it as a part that the compiler made of a function: a copy,
 * a region of OpenMP, a lambda. All of it if it is none. */
static size_t whole_bytes(const char *bare)
{
    static const char *const parts[] = {"._omp_fn.", ".omp_outlined", "..omp_par", "::{lambda"};
    size_t copied = bytes_before(bare, copies, PC_ARRAY_LEN(copies)),
           part = bytes_before(bare, parts, PC_ARRAY_LEN(parts));
    return copied < part ? copied : part;
}

/* True if the first n bytes of a name are the text, perhaps behind some `::`. */
static bool ends_in(const char *name, size_t n, const char *text)
{
    size_t bytes = strlen(text), before = n > bytes ? n - bytes : 0;
    return bytes && n >= bytes && !strncmp(name + before, text, bytes) &&
           (!before || (before >= 2 && !strncmp(name + before - 2, "::", 2)));
}

bool pct_name_means(const char *name, const char *asked)
{
    struct pct_buf bare = {0}, folded = {0}, wanted = {0};
    put_bare(&bare, name);
    put_bare(&wanted, asked);
    pct_buf_put(&folded, "", 0);
    put_folded(&folded, asked, strlen(asked), true, NULL);
    bool detailed = strcmp(folded.data, asked) != 0; /* asked with arguments: this one of several */
    bool same = !strcmp(name, asked) ||
                (!detailed && (ends_in(bare.data, bare.n, wanted.data) ||
                               ends_in(bare.data, whole_bytes(bare.data), wanted.data)));
    pct_buf_free(&bare);
    pct_buf_free(&folded);
    pct_buf_free(&wanted);
    return same;
}

const char *pct_name_tail(const char *name, struct pct_pool *pool)
{
    struct pct_buf bare = {0};
    put_bare(&bare, name);
    bare.data[whole_bytes(bare.data)] = '\0';
    const char *tail = bare.data;
    for (const char *s; (s = strstr(tail, "::"));)
        tail = s + 2;
    tail = pct_pool_intern(pool, tail);
    pct_buf_free(&bare);
    return tail;
}
