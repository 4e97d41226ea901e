/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions from their DIEs. Most functions of C++ have a linkage name, which the
 * demangler reads. GCC gives none to those of one source alone: static ones, those in namespaces
 * without a name, lambdas. Their names are put together from the DIEs that they are in and from the
 * types of their parameters, in the form of the demangler: so a function has the same name where it
 * is inlined and where its symbol names it. Without types
 * (-g1) such a function has its bare name.
 *
 * Known holes, where the two names differ:
 *  - The call operator of a lambda is named without parameters, also where another lambda is in it.
 *    The type of an argument has the parameters of its lambda, unless that is generic.
 *  - A lambda of code that GCC left out is not counted in the numbers of those behind it.
 *  - A static function with the linkage of C has a bare symbol, and DWARF does not tell. It is
 *    named with parameters if all of its calls are inlined.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"
#include "analysis/symbols/short_name.h"

#include <ctype.h>
#include <dwarf.h>
#include <string.h>

/* A name that is put together. */
struct namer {
    struct pct_dw_unit *unit;
    struct pct_pool *pool;
    unsigned left; /* types that may still be named: those of damaged files can be in circles */
};

enum { SCOPES = 32 };

/* A DIE and those that it is in, the outermost first, without the unit. */
struct scopes {
    Dwarf_Die at[SCOPES];
    size_t n; /* 0: not found */
};

/* The linkage name, which has the parameters of C++ and the module of Fortran. */
const char *pct_dw_linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    return name ? name
                : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
}

static const char call_operator[] = "operator()";

/* The DIE that another one refers to, of which it is a copy or a definition. */
static bool find_original(Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), out) ||
           dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), out);
}

Dwarf_Die pct_dw_origin(const Dwarf_Die *die)
{
    Dwarf_Die at = *die, next;
    for (int steps = 0; steps < 16 && find_original(&at, &next); steps++)
        at = next;
    return at;
}

/* Searches the siblings of each level, most of which libdw steps over, and not the whole unit. */
static void find_scopes(const Dwarf_Die *die, struct scopes *out)
{
    Dwarf_Die outer, child;
    out->n = 0;
    if (!dwarf_diecu((Dwarf_Die *)die, &outer, NULL, NULL))
        return;
    while (out->n < SCOPES && !dwarf_child(&outer, &child) && child.addr <= die->addr) {
        do
            outer = child;
        while (!dwarf_siblingof(&outer, &child) && child.addr <= die->addr);
        out->at[out->n++] = outer;
        if (outer.addr == die->addr)
            return;
    }
    out->n = 0;
}

/* ---- Lambdas --------------------------------------------------------------------------------- */

/* True for a type without a name that can be called. Some versions of GCC name it <lambda(int)>. */
static bool is_closure(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    const char *name = dwarf_diename(type);
    Dwarf_Die die;
    if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) ||
        (name && strncmp(name, "<lambda", strlen("<lambda")) != 0) || dwarf_child(type, &die))
        return false;
    do {
        name = dwarf_tag(&die) == DW_TAG_subprogram ? dwarf_diename(&die) : NULL;
        if (name && !strncmp(name, call_operator, sizeof call_operator - 1))
            return true;
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

/* The place of a definition in its source, as a number that is greater further down; 0: not known.
 */
static uint64_t place_of(Dwarf_Die *die)
{
    int line = 0, column = 0;
    dwarf_decl_line(die, &line);
    dwarf_decl_column(die, &column);
    return (uint64_t)(unsigned)line << 32 | (unsigned)column;
}

/* Counts the closures of a scope, through blocks, that are not behind `type` in the source, itself
 * included. GCC has those of blocks behind the others (seen with 12.2); in one place, as of a
 * macro, the order is theirs. */
static unsigned count_closures(Dwarf_Die *scope, Dwarf_Die *type, unsigned depth)
{
    Dwarf_Die die;
    uint64_t place = place_of(type);
    unsigned n = 0;
    if (depth > 200 || dwarf_child(scope, &die))
        return 0;
    do {
        if (dwarf_tag(&die) == DW_TAG_lexical_block)
            n += count_closures(&die, type, depth + 1);
        else if (is_closure(&die)) {
            uint64_t at = place_of(&die);
            n += at < place || (at == place && die.addr <= type->addr);
        }
    } while (!dwarf_siblingof(&die, &die));
    return n;
}

/* The number of a lambda in the function or the type that has it; 0: the last scope is none. */
static unsigned number_of_lambda(struct scopes *s, size_t n)
{
    size_t outer = n - 1;
    if (n < 2 || !is_closure(&s->at[n - 1]))
        return 0;
    while (outer && dwarf_tag(&s->at[outer - 1]) == DW_TAG_lexical_block)
        outer--;
    return outer ? count_closures(&s->at[outer - 1], &s->at[n - 1], 0) : 0;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static void put_type(struct namer *m, struct pct_buf *b, Dwarf_Die *of, const char *declarator);
static void put_parameters(struct namer *m, struct pct_buf *b, Dwarf_Die *owner, bool *any);

/* Names of types in GCC's DWARF and for the demangler. One that holds another is before it. The
 * last ones have abbreviations in symbols, which the demangler does not write out. */
static const char *const renamed_types[][2] = {
    {"long long unsigned int", "unsigned long long"},
    {"long long int", "long long"},
    {"long unsigned int", "unsigned long"},
    {"long int", "long"},
    {"short unsigned int", "unsigned short"},
    {"short int", "short"},
    {"__int128 unsigned", "unsigned __int128"},
    {"std::basic_istream<char, std::char_traits<char> >", "std::istream"},
    {"std::basic_ostream<char, std::char_traits<char> >", "std::ostream"},
    {"std::basic_iostream<char, std::char_traits<char> >", "std::iostream"},
    {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
};

/* Appends a name of DWARF with the types in it as the demangler has them. */
static void put_renamed(struct pct_buf *b, const char *name)
{
    while (*name) {
        size_t word = 0, i = 0;
        while (i < PC_ARRAY_LEN(renamed_types) &&
               strncmp(name, renamed_types[i][0], strlen(renamed_types[i][0])) != 0)
            i++;
        if (i < PC_ARRAY_LEN(renamed_types)) {
            pct_buf_text(b, renamed_types[i][1]);
            name += strlen(renamed_types[i][0]);
        }
        while (name[word] == '_' || isalnum((unsigned char)name[word]))
            word++;
        word += name[word] != '\0';
        pct_buf_put(b, name, word);
        name += word;
    }
}

static bool is_argument(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter ||
           tag == DW_TAG_GNU_template_parameter_pack || tag == DW_TAG_GNU_template_template_param;
}

static bool has_arguments(Dwarf_Die *die)
{
    Dwarf_Die child;
    if (!dwarf_child(die, &child))
        do
            if (is_argument(&child))
                return true;
        while (!dwarf_siblingof(&child, &child));
    return false;
}

/* Appends a number as an argument: "3", "3ul", "true", "(char)120"; false: it is no number. */
static bool put_number(struct namer *m, struct pct_buf *b, Dwarf_Die *die)
{
    static const char *const suffixes[][2] = {
        {"int", ""},
        {"unsigned int", "u"},
        {"long int", "l"},
        {"long unsigned int", "ul"},
        {"long long int", "ll"},
        {"long long unsigned int", "ull"},
    };
    Dwarf_Attribute attribute;
    Dwarf_Word number; /* GCC extends the sign of negative ones only, whatever their size */
    Dwarf_Die type;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_const_value, &attribute), &number) ||
        !dwarf_formref_die(dwarf_attr(die, DW_AT_type, &attribute), &type))
        return false;
    const char *name = dwarf_tag(&type) == DW_TAG_base_type ? dwarf_diename(&type) : NULL;
    if (name && !strcmp(name, "bool")) {
        pct_buf_text(b, number ? "true" : "false");
        return true;
    }
    for (size_t i = 0; name && i < PC_ARRAY_LEN(suffixes); i++)
        if (!strcmp(name, suffixes[i][0])) {
            const char *suffix = suffixes[i][1];
            if (*suffix == 'u')
                pct_buf_format(b, "%llu%s", (unsigned long long)number, suffix);
            else
                pct_buf_format(b, "%lld%s", (long long)number, suffix);
            return true;
        }
    pct_buf_text(b, "(");
    put_type(m, b, die, "");
    pct_buf_format(b, ")%lld", (long long)number);
    return true;
}

/* Appends the arguments of a template or of a pack with ", " between them; false: one of them has
 * no text here. */
static bool put_each(struct namer *m, struct pct_buf *b, Dwarf_Die *owner, bool *any)
{
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    if (dwarf_child(owner, &die))
        return true;
    do {
        int tag = dwarf_tag(&die);
        if (!is_argument(&die))
            continue;
        if (tag == DW_TAG_GNU_template_parameter_pack) {
            if (!m->left || !m->left-- || !put_each(m, b, &die, any))
                return false;
            continue;
        }
        pct_buf_text(b, *any ? ", " : "");
        *any = true;
        if (tag == DW_TAG_template_type_parameter)
            put_type(m, b, &die, "");
        else if (tag == DW_TAG_template_value_parameter && !put_number(m, b, &die))
            return false;
        else if (tag == DW_TAG_GNU_template_template_param) {
            const char *name =
                dwarf_formstring(dwarf_attr(&die, DW_AT_GNU_template_name, &attribute));
            pct_buf_text(b, name ? name : "");
        }
    } while (!dwarf_siblingof(&die, &die));
    return true;
}

/* Appends a name with the arguments that `owner` has, or else as it is. */
static void put_with_arguments(struct namer *m, struct pct_buf *b, const char *name,
                               Dwarf_Die *owner)
{
    const char *bracket = strncmp(name, "operator", 8) != 0 ? strchr(name, '<') : NULL;
    struct pct_buf made = {0};
    bool any = false;
    if (bracket && bracket > name && has_arguments(owner)) {
        pct_buf_put(&made, name, (size_t)(bracket - name) + 1);
        if (put_each(m, &made, owner, &any)) {
            pct_buf_text(&made, made.data[made.n - 1] == '>' ? " >" : ">");
            pct_buf_text(b, made.data);
            name = "";
        }
    }
    put_renamed(b, name);
    pct_buf_free(&made);
}

/* Appends the parameters of a lambda; none for a generic one, whose instances alone have types. */
static void put_lambda_parameters(struct namer *m, struct pct_buf *b, Dwarf_Die *closure)
{
    Dwarf_Die die;
    bool any = false;
    if (dwarf_child(closure, &die))
        return;
    do {
        const char *name = dwarf_tag(&die) == DW_TAG_subprogram ? dwarf_diename(&die) : NULL;
        if (name && !strcmp(name, call_operator)) {
            pct_buf_text(b, "(");
            put_parameters(m, b, &die, &any);
            pct_buf_text(b, ")");
            return;
        }
    } while (!dwarf_siblingof(&die, &die));
}

/* Appends the name of the last scope, without those that it is in; nothing for a block. */
static void put_scope(struct namer *m, struct pct_buf *b, struct scopes *s, size_t n)
{
    Dwarf_Die *die = &s->at[n - 1];
    const char *name = dwarf_diename(die);
    unsigned number = number_of_lambda(s, n);
    if (number)
        pct_buf_format(b, "{lambda#%u}", number);
    else if (name)
        put_with_arguments(m, b, name, die);
    else if (dwarf_tag(die) != DW_TAG_lexical_block)
        pct_buf_text(b, dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)"
                                                           : "{unnamed type}");
}

/* Appends the first n scopes, with "::" behind each. A function among them has its whole name. */
static void put_scopes(struct namer *m, struct pct_buf *b, struct scopes *s, size_t n)
{
    size_t first = n;
    while (first && dwarf_tag(&s->at[first - 1]) != DW_TAG_subprogram)
        first--;
    if (first) {
        const char *function = pct_dw_function_name(m->unit, &s->at[first - 1], m->pool);
        pct_buf_format(b, "%s::", function ? function : "");
    }
    for (size_t i = first; i < n; i++) {
        size_t before = b->n;
        put_scope(m, b, s, i + 1);
        pct_buf_text(b, b->n > before ? "::" : "");
    }
}

/* Appends the qualified name of a type. */
static void put_named(struct namer *m, struct pct_buf *b, Dwarf_Die *type)
{
    struct scopes s;
    if (dwarf_tag(type) == DW_TAG_base_type || dwarf_tag(type) == DW_TAG_unspecified_type) {
        const char *name = dwarf_diename(type);
        put_renamed(b, name ? name : "");
        return;
    }
    find_scopes(type, &s);
    if (!s.n)
        return;
    put_scopes(m, b, &s, s.n - 1);
    unsigned number = number_of_lambda(&s, s.n);
    if (!number) {
        put_scope(m, b, &s, s.n);
        return;
    }
    pct_buf_text(b, "{lambda");
    put_lambda_parameters(m, b, type);
    pct_buf_format(b, "#%u}", number);
}

static bool find_type(Dwarf_Die *of, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr_integrate(of, DW_AT_type, &attribute), type) != NULL;
}

static bool is_qualifier(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type;
}

/* Appends the types of the parameters in brackets. */
static void put_parameters(struct namer *m, struct pct_buf *b, Dwarf_Die *owner, bool *any)
{
    Dwarf_Die die;
    if (dwarf_child(owner, &die))
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_GNU_formal_parameter_pack && m->left && m->left--)
            put_parameters(m, b, &die, any);
        if ((tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters) ||
            dwarf_hasattr(&die, DW_AT_artificial))
            continue;
        pct_buf_text(b, *any ? ", " : "");
        *any = true;
        Dwarf_Die of = die, type;
        while (m->left && find_type(&of, &type) && is_qualifier(&type) && m->left--)
            of = type;
        if (tag == DW_TAG_formal_parameter)
            put_type(m, b, &of, "");
        else
            pct_buf_text(b, "...");
    } while (!dwarf_siblingof(&die, &die));
}

/* Appends a type that is built of another one, as "int" and "*". */
static void put_built(struct namer *m, struct pct_buf *b, Dwarf_Die *type, const char *sign,
                      const char *declarator)
{
    struct pct_buf whole = {0};
    pct_buf_format(&whole, "%s%s", sign, declarator);
    put_type(m, b, type, whole.data);
    pct_buf_free(&whole);
}

/* Appends "double (*)(int)", "int (&) [3]". */
static void put_around(struct namer *m, struct pct_buf *b, Dwarf_Die *type, const char *declarator)
{
    struct pct_buf whole = {0};
    Dwarf_Die range;
    Dwarf_Attribute attribute;
    Dwarf_Word last;
    bool any = false;
    pct_buf_format(&whole, *declarator ? " (%s)" : " ", declarator);
    if (dwarf_tag(type) == DW_TAG_subroutine_type) {
        pct_buf_text(&whole, "(");
        put_parameters(m, &whole, type, &any);
        pct_buf_text(&whole, ")");
    } else if (!dwarf_child(type, &range))
        do {
            pct_buf_text(&whole, any || !*declarator ? "[" : " [");
            any = true;
            if (!dwarf_formudata(dwarf_attr(&range, DW_AT_upper_bound, &attribute), &last))
                pct_buf_format(&whole, "%llu", (unsigned long long)last + 1);
            pct_buf_text(&whole, "]");
        } while (!dwarf_siblingof(&range, &range));
    put_type(m, b, type, whole.data);
    pct_buf_free(&whole);
}

/* Appends "int A::*". */
static void put_member_pointer(struct namer *m, struct pct_buf *b, Dwarf_Die *type,
                               const char *declarator)
{
    Dwarf_Attribute attribute;
    Dwarf_Die owner, target;
    struct pct_buf whole = {0};
    bool function = find_type(type, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type;
    pct_buf_text(&whole, function ? "" : " ");
    if (dwarf_formref_die(dwarf_attr(type, DW_AT_containing_type, &attribute), &owner))
        put_named(m, &whole, &owner);
    pct_buf_format(&whole, "::*%s", declarator);
    put_type(m, b, type, whole.data);
    pct_buf_free(&whole);
}

/* Appends the type of a DIE. declarator: what is built of the type, as "*" or " const&". */
static void put_type(struct namer *m, struct pct_buf *b, Dwarf_Die *of, const char *declarator)
{
    Dwarf_Die type, target;
    if (!m->left || !find_type(of, &type)) {
        pct_buf_format(b, "void%s", declarator);
        return;
    }
    m->left--;
    switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type:
        put_built(m, b, &type, "*", declarator);
        return;
    case DW_TAG_reference_type:
        put_built(m, b, &type, "&", declarator);
        return;
    case DW_TAG_rvalue_reference_type:
        put_built(m, b, &type, "&&", declarator);
        return;
    case DW_TAG_const_type:
        put_built(m, b, &type, " const", declarator);
        return;
    case DW_TAG_volatile_type:
        put_built(m, b, &type, " volatile", declarator);
        return;
    case DW_TAG_restrict_type:
        put_built(m, b, &type, " __restrict", declarator);
        return;
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
        put_around(m, b, &type, declarator);
        return;
    case DW_TAG_ptr_to_member_type:
        put_member_pointer(m, b, &type, declarator);
        return;
    case DW_TAG_typedef: /* the demangler has the name of a typedef where the type has none */
        if (!find_type(&type, &target) || dwarf_diename(&target) ||
            dwarf_hasattr(&target, DW_AT_type)) {
            put_type(m, b, &type, declarator);
            return;
        }
        break;
    default:
        break;
    }
    put_named(m, b, &type);
    pct_buf_text(b, declarator);
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* True for a function of a class that does not change its object. */
static bool is_const(Dwarf_Die *function)
{
    Dwarf_Die die, type;
    if (dwarf_child(function, &die))
        return false;
    while (dwarf_tag(&die) != DW_TAG_formal_parameter) /* arguments of a template are before it */
        if (dwarf_siblingof(&die, &die))
            return false;
    if (!dwarf_hasattr(&die, DW_AT_artificial) || !find_type(&die, &type))
        return false;
    if (dwarf_tag(&type) == DW_TAG_const_type && !find_type(&type, &die))
        return false;
    else if (dwarf_tag(&type) == DW_TAG_const_type)
        type = die;
    return dwarf_tag(&type) == DW_TAG_pointer_type && find_type(&type, &die) &&
           dwarf_tag(&die) == DW_TAG_const_type;
}

/* The DIE among those that a function refers to that has the arguments of its template. */
static bool find_template(const Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Die next;
    *out = *die;
    for (int steps = 0; steps < 16; steps++, *out = next) {
        if (has_arguments(out))
            return true;
        if (!find_original(out, &next))
            break;
    }
    return false;
}

/* True for a function that makes an object of its class. */
static bool is_constructor(struct scopes *s, const char *name)
{
    const char *owner = s->n > 1 ? dwarf_diename(&s->at[s->n - 2]) : NULL;
    return owner && strcspn(owner, "<") == strcspn(name, "<") &&
           !strncmp(owner, name, strcspn(name, "<"));
}

/* Appends the name of a function. As for the demangler, an instance of a template begins with the
 * type of its result, if it has one that is not in its name. */
static void put_function(struct namer *m, struct pct_buf *b, Dwarf_Die *die, struct scopes *s)
{
    Dwarf_Die *function = &s->at[s->n - 1], owner;
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    bool any = false;
    if (find_template(die, &owner) && !is_constructor(s, name) &&
        strncmp(name, "operator ", 9) != 0) {
        put_type(m, b, function, "");
        pct_buf_text(b, " ");
    }
    put_scopes(m, b, s, s->n - 1);
    put_with_arguments(m, b, name, &owner);
    pct_buf_text(b, "(");
    put_parameters(m, b, function, &any);
    pct_buf_text(b, is_const(function) ? ") const" : ")");
}

/* True if a unit has types: with -g1 it has none, and its functions no parameters. */
static bool has_types(struct pct_dw_unit *u)
{
    Dwarf_Die die;
    if (!u->types_sought && !dwarf_child(&u->root, &die))
        do {
            int tag = dwarf_tag(&die);
            u->typed = tag == DW_TAG_base_type || tag == DW_TAG_imported_unit;
        } while (!u->typed && !dwarf_siblingof(&die, &die));
    u->types_sought = true;
    return u->typed;
}

/* True for a function that the compiler has made, as of a region of OpenMP. */
static bool is_made(const char *name)
{
    return strchr(name, '.') || !strncmp(name, "_Z", 2) || !strncmp(name, "_GLOBAL_", 8);
}

/* The name of a function that no other source can call; NULL: it is none. */
static const char *put_together(struct pct_dw_unit *u, Dwarf_Die *die, const char *name,
                                struct pct_pool *pool)
{
    struct namer m = {u, pool, 200};
    struct scopes s;
    struct pct_buf b = {0}, whole = {0};
    Dwarf_Die origin = pct_dw_origin(die);
    find_scopes(&origin, &s);
    if (!s.n)
        return NULL;
    if (s.n > 1 && !strncmp(name, call_operator, sizeof call_operator - 1) &&
        number_of_lambda(&s, s.n - 1)) {
        put_scopes(&m, &b, &s, s.n - 1);
        pct_buf_text(&b, name);
    } else if (!dwarf_hasattr_integrate(die, DW_AT_external) && !is_made(name) && has_types(u))
        put_function(&m, &b, die, &s);
    if (b.n)
        put_renamed(&whole, b.data);
    name = whole.n ? pct_pool_intern(pool, whole.data) : NULL;
    pct_buf_free(&whole);
    pct_buf_free(&b);
    return name;
}

/* Functions are nested in namespaces, classes, Fortran modules, and in each other (contained
 * procedures, lambdas). Depth is bounded against damaged files. */
static void go_through(Dwarf_Die *parent, bool (*see)(void *arg, Dwarf_Die *die), void *arg,
                       unsigned depth)
{
    Dwarf_Die die;
    if (depth > 200 || dwarf_child(parent, &die))
        return;
    do {
        bool has_functions = false;
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            has_functions = see(arg, &die);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_lexical_block:
            has_functions = true;
            break;
        default:
            break;
        }
        if (has_functions)
            go_through(&die, see, arg, depth + 1);
    } while (!dwarf_siblingof(&die, &die));
}

void pct_dw_each_function(Dwarf_Die *root, bool (*see)(void *arg, Dwarf_Die *die), void *arg)
{
    go_through(root, see, arg, 0);
}

bool pct_dw_in_function(Dwarf_Die *die)
{
    Dwarf_Die origin = pct_dw_origin(die);
    struct scopes s;
    find_scopes(&origin, &s);
    for (size_t i = 0; i + 1 < s.n; i++)
        if (dwarf_tag(&s.at[i]) == DW_TAG_subprogram)
            return true;
    return false;
}

bool pct_dw_name_known(const struct pct_dw_unit *u, const Dwarf_Die *origin, const char **name_out)
{
    for (size_t i = 0; i < u->n_named; i++)
        if (u->named[i].where == origin->addr) {
            *name_out = u->named[i].name;
            return true;
        }
    return false;
}

void pct_dw_name_keep(struct pct_dw_unit *u, const Dwarf_Die *origin, const char *name)
{
    for (size_t i = 0; i < u->n_named; i++)
        if (u->named[i].where == origin->addr) {
            u->named[i].name = name;
            return;
        }
    u->named = pct_grow(u->named, u->n_named, &u->named_room, sizeof *u->named);
    u->named[u->n_named++] = (struct pct_dw_named){origin->addr, name};
}

/* Names a function that has no linkage name, once. */
static const char *name_local(struct pct_dw_unit *u, Dwarf_Die *die, const char *name,
                              struct pct_pool *pool)
{
    Dwarf_Die origin = pct_dw_origin(die);
    const char *kept;
    if (pct_dw_name_known(u, &origin, &kept))
        return kept;
    /* Kept before it is named, so that a damaged file in which it is inside itself has an end. */
    pct_dw_name_keep(u, &origin, NULL);
    name = put_together(u, die, name, pool);
    pct_dw_name_keep(u, &origin, name);
    return name;
}

/* The innermost function around a DIE that has no dot in its name: the compiler did not make it;
 * false: none. */
static bool find_owner(const Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Attribute attribute;
    struct scopes s;
    find_scopes(die, &s);
    for (size_t i = s.n; i > 1; i--) {
        *out = s.at[i - 2];
        const char *name = dwarf_formstring(dwarf_attr_integrate(out, DW_AT_name, &attribute));
        if (dwarf_tag(out) == DW_TAG_subprogram && name && !strchr(name, '.'))
            return true;
    }
    return false;
}

/* The name of a function of Fortran that the compiler made of a part of another, such as a parallel
 * region of OpenMP. GCC describes a region inside of its procedure: "__heat_MOD_work._omp_fn.0" or,
 * of a procedure in another one, "work.1._omp_fn.0". LLVM tells its symbol: "work_..omp_par". NULL:
 * it is none. */
static const char *name_part(struct pct_dw_unit *u, Dwarf_Die *die, const char *symbol,
                             struct pct_pool *pool)
{
    const char *part = strchr(symbol, '.'), *region = strstr(symbol, "._omp_fn.");
    const char *readable = pct_demangle(symbol, pool);
    Dwarf_Die owner;
    if (!part || part == symbol)
        return NULL;
    struct pct_buf b = {0};
    if (region && find_owner(die, &owner))
        pct_buf_format(&b, "%s%s", pct_dw_function_name(u, &owner, pool), region);
    else if (!strcmp(readable, symbol) && part[-1] == '_' && strncmp(symbol, "MAIN__", 6) != 0)
        pct_buf_format(&b, "%.*s%s", (int)(part - symbol) - 1, symbol, part);
    else
        return readable;
    const char *kept = pct_pool_intern(pool, b.data);
    pct_buf_free(&b);
    return kept;
}

const char *pct_dw_function_name(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool)
{
    Dwarf_Attribute attribute;
    const char *linkage = pct_dw_linkage_name(die);
    if (linkage) {
        const char *readable = pct_demangle(linkage, pool);
        if (strcmp(readable, linkage))
            return readable;
    }
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    const char *part = NULL;
    if (name && u->fortran)
        part = name_part(u, die, name, pool);
    else if (name && !linkage && u->cxx)
        part = name_local(u, die, name, pool);
    return part ? part : name ? pct_pool_intern(pool, name) : NULL;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* libdw leaves a path relative to the folder of the compilation if its entry in
 * the line table of DWARF 5 is (seen with elfutils 0.188, `cc -c src/a.c`). */
const char *pct_dw_path(struct pct_dw_unit *u, const char *path, struct pct_pool *pool)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attribute));
    if (*path == '/' || !folder || *folder != '/')
        return pct_pool_intern(pool, path);
    struct pct_buf whole = {0};
    pct_buf_format(&whole, "%s/%s", folder, path);
    path = pct_pool_intern(pool, whole.data);
    pct_buf_free(&whole);
    return path;
}

/* The table of files is that of the unit, also for split DWARF; dwarf_decl_file would look for it
 * in the split file, and end the program by an assertion (seen with elfutils 0.188). */
const char *pct_dw_file(struct pct_dw_unit *u, Dwarf_Die *die, unsigned name, struct pct_pool *pool)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Files *files;
    size_t n_files;
    if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &file) ||
        attribute.cu != die->cu || /* the number is that of another unit, with other files */
        dwarf_getsrcfiles(&u->die, &files, &n_files) || file >= n_files)
        return NULL;
    const char *path = dwarf_filesrc(files, file, NULL, NULL);
    return path ? pct_dw_path(u, path, pool) : NULL;
}
