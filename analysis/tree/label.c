/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The notations of places: see label.h.
 */
#include "analysis/tree/label.h"

#include "analysis/symbols/short_name.h"

#include <string.h>

static void put_line(struct pct_buf *b, const char *file, uint32_t line, enum pct_escape escape)
{
    pct_text_escape(b, file, escape);
    if (line)
        pct_buf_format(b, ":%u", line);
}

void pct_label_call(struct pct_buf *b, const char *file, uint32_t line)
{
    pct_buf_text(b, " at ");
    put_line(b, file, line, PCT_ESCAPE_NAME);
}

/* Appends module+0xoffset: code that has no name. */
static void put_offset(struct pct_buf *b, const char *module, uint64_t offset)
{
    char text[24], *at = text + sizeof text;
    do {
        *--at = "0123456789abcdef"[offset & 15];
        offset >>= 4;
    } while (offset);
    pct_text_escape(b, module, PCT_ESCAPE_NAME);
    pct_buf_text(b, "+0x");
    pct_buf_put(b, at, (size_t)(text + sizeof text - at));
}

void pct_label_nameless(struct pct_buf *b, const char *module, const struct pct_frame *f,
                        uint64_t offset, unsigned shape)
{
    put_offset(b, module, f->begin ? f->begin : offset);
    if (f->begin && shape & PCT_LABEL_LINE)
        pct_buf_format(b, ":0x%llx", (unsigned long long)offset);
}

void pct_label_frame(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n,
                     const struct pct_frame *f, unsigned shape)
{
    const char *module = n->module == PC_NO_INDEX ? "unknown" : p->modules[n->module].path;
    const char *file = shape & PCT_LABEL_LINE ? f->file : pct_frame_home(f);
    if (!(shape & PCT_LABEL_FULL_PATHS)) {
        module = pc_base_name(module);
        file = file ? pc_base_name(file) : NULL;
    }
    if (!f->function) {
        pct_label_nameless(b, module, f, n->offset, shape);
        return;
    }
    pct_text_escape(b, f->function, PCT_ESCAPE_NAME);
    if (n->module == PC_NO_INDEX) /* it is no function, but stands for contexts */
        return;
    pct_buf_text(b, "@");
    put_line(b, file ? file : module, file && shape & PCT_LABEL_LINE ? f->line : 0,
             PCT_ESCAPE_NAME);
}

bool pct_label_begins_program(const struct pc_profile *p, const struct pc_profile_node *n,
                              const struct pc_profile_node *up)
{
    uint16_t above = up ? up->kind : 0;
    return n->module != PC_NO_INDEX && above != PCOLLECT_NODE_FRAME && above != PCOLLECT_NODE_OP &&
           p->modules[n->module].flags & PCOLLECT_MODULE_EXE;
}

/* The part of `path` from the folder on in which it differs from `other`. */
static const char *find_different(const char *path, const char *other)
{
    const char *at = path + strlen(path), *end = other + strlen(other);
    for (; at > path && end > other && at[-1] == end[-1]; at--)
        end--;
    while (at > path && at[-1] != '/')
        at--;
    return at;
}

const char *pct_label_module(const struct pc_profile *p, const char *path)
{
    const char *name = pc_base_name(path), *shown = name;
    bool program = false;
    for (uint32_t i = 0; i < p->n_modules; i++) {
        const char *other = p->modules[i].path;
        if (!(p->modules[i].flags & PCOLLECT_MODULE_EXE) || strcmp(pc_base_name(other), name) != 0)
            continue;
        bool same = !strcmp(other, path);
        const char *different = same ? shown : find_different(path, other);
        shown = different < shown ? different : shown;
        program |= same;
    }
    return program ? shown : pct_place_file(path);
}

void pct_label_program(struct pct_buf *b, const struct pc_profile *p, uint32_t module,
                       bool full_path)
{
    const char *path = p->modules[module].path;
    pct_buf_text(b, "(program ");
    pct_text_escape(b, full_path ? path : pct_label_module(p, path), PCT_ESCAPE_NAME);
    pct_buf_text(b, ")");
}

void pct_label_region(struct pct_buf *b, const char *name)
{
    pct_buf_text(b, "(region ");
    pct_text_escape(b, name, PCT_ESCAPE_NAME);
    pct_buf_text(b, ")");
}

void pct_label_other(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n)
{
    const char *name = NULL;
    switch (n->kind) {
    case PCOLLECT_NODE_OP:
        pct_text_escape(b, p->ops[n->op].name, PCT_ESCAPE_NAME);
        break;
    case PCOLLECT_NODE_CUT:
        pct_buf_text(b, "(cut)");
        break;
    case PCOLLECT_NODE_PHASE:
        pct_buf_format(b, "(phase %llu)", (unsigned long long)n->offset);
        break;
    case PCOLLECT_NODE_REGION:
        name = pc_profile_region(p, n->offset);
        pct_label_region(b, name ? name : "of unknown name");
        break;
    default:
        break;
    }
}

uint64_t pct_label_context(uint64_t above, const char *label)
{
    return pc_hash_bytes(label, strlen(label), above);
}

/* ---- For users ------------------------------------------------------------------------------ */

bool pct_place_is_of_package(const char *path)
{
    return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

const char *pct_place_file(const char *path)
{
    const char *name = pc_base_name(path);
    bool same = !strcmp(name, "__init__.py") || !strcmp(name, "__main__.py");
    const char *end = strrchr(name, '.');
    bool known = same || (end && !strcmp(end, ".py") && pct_place_is_of_package(path));
    if (!known || name < path + 2)
        return name;
    const char *folder = name - 1;
    while (folder > path && folder[-1] != '/')
        folder--;
    return same || !strstr(folder, "-packages/") ? folder : name;
}

void pct_place_put(struct pct_buf *b, const struct pct_place_text *place, enum pct_place_form form)
{
    static const char *const before[] = {"", "  ", " ("}, *const after[] = {"", "", ")"};
    const char *file = place->file;
    if (!file && !place->call)
        return;
    pct_buf_text(b, before[form]);
    if (file)
        put_line(b, place->full_path ? file : pct_place_file(file), place->call ? 0 : place->line,
                 PCT_ESCAPE_CELL);
    if (place->call)
        pct_buf_format(b, "%scall %u of %u", file ? ", " : "", place->call, place->n_calls);
    pct_buf_text(b, after[form]);
}

void pct_place_unnamed(struct pct_buf *b, const char *module)
{
    pct_buf_text(b, "[in ");
    pct_text_escape(b, module, PCT_ESCAPE_CELL);
    pct_buf_text(b, "]");
}

/* The place of +0x or :0x and a number, with which a text ends; NULL: it ends otherwise. */
static const char *find_number(const char *text, const char *end, char mark)
{
    const char *at = end;
    while (at > text && strchr("0123456789abcdef", at[-1]))
        at--;
    bool found = at < end && at >= text + 3 && at[-3] == mark && !memcmp(at - 2, "0x", 2);
    return found ? at - 3 : NULL;
}

/* The end of the function's name in a label, before @ and its file or before : and the offset in a
 * nameless function; NULL: nothing follows the name. */
static const char *find_end_of_name(const char *label, const char *end)
{
    for (const char *next = label; next < end; next++) {
        if (*next == '@')
            return next;
        next += *next == '\\';
    }
    return find_number(label, end, ':');
}

/* Appends a part of a label without the escapes that only a label needs. A > that ends arguments of
 * a template is plain, however many blanks are beside it; any other that is escaped stays so,
 * because in a path it would look like the end of a label. */
static void put_plain(struct pct_buf *b, const char *text, const char *end)
{
    size_t depth = 0;
    for (const char *next, *begin = text; text < end; text = next) {
        bool escaped = *text == '\\' && text + 1 < end;
        char c = text[escaped];
        next = text + 1 + escaped;
        text += escaped && (c == '@' || (c == '>' && depth));
        depth += c == '<' && text > begin && text[-1] != ' ';
        depth -= c == '>' && depth;
        pct_buf_put(b, text, (size_t)(next - text));
    }
}

static void put_of_label(struct pct_buf *b, const char *label, const char *end, bool full_names)
{
    const char *at = find_end_of_name(label, end);
    struct pct_buf name = {0};
    pct_buf_put(&name, "", 0);
    put_plain(&name, label, at ? at : end);
    pct_name_put(b, name.data, full_names);
    pct_buf_free(&name);
    if (at) {
        pct_buf_text(b, " (");
        put_plain(b, at + 1, end);
        pct_buf_text(b, ")");
    }
}

bool pct_place_of_nameless(struct pct_buf *b, const char *function)
{
    const char *end = function + strlen(function), *offset = find_number(function, end, ':');
    if (!find_number(function, offset ? offset : end, '+'))
        return false;
    put_of_label(b, function, end, true);
    return true;
}

void pct_label_put_nameless(struct pct_buf *b, const char *label)
{
    const char *end = label + strlen(label), *offset = find_number(label, end, ':');
    pct_buf_put(b, label, (size_t)((offset ? offset : end) - label));
}

void pct_place_of_path(struct pct_buf *b, const char *labels, bool full_names)
{
    static const char between[] = " > ";
    pct_buf_put(b, "", 0);
    for (const char *next; labels; labels = next) {
        next = strstr(labels, between);
        put_of_label(b, labels, next ? next : labels + strlen(labels), full_names);
        if (next)
            pct_buf_text(b, between);
        next = next ? next + sizeof between - 1 : NULL;
    }
}
