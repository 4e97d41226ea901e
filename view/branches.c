/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of a tree as text: see branches.h. If the lines of the nodes above leave no room for a
 * name, those of the outermost are left out.
 */
#include "view/branches.h"

#include "base/wrap.h"

#include <string.h>

enum { LEAST_CELLS = 24, NARROW_CELLS = 13, STEP = 3, INDENT = 2, MOST_PARTS = 4 };

/* `top`: no corner. `last`: no sibling follows. */
static struct pct_corner corner_of(const struct pct_branches *b, bool top, bool last)
{
    if (top)
        return (struct pct_corner){"", ""};
    if (b->utf8)
        return last ? (struct pct_corner){"\xe2\x94\x94\xe2\x94\x80 ", "   "}
                    : (struct pct_corner){"\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x82  "};
    return last ? (struct pct_corner){"`- ", "   "} : (struct pct_corner){"|- ", "|  "};
}

const char *pct_branches_dots(const struct pct_branches *b)
{
    return b->utf8 ? "\xe2\x80\xa6" : "...";
}

static const char *guide_of(const struct pct_branches *b)
{
    return b->guide.data ? b->guide.data : "";
}

/* Cells that a name has at least: fewer where the figures, the dots and a corner leave no more. */
static size_t least_cells(const struct pct_branches *b)
{
    size_t taken = b->figures + 2 * STEP, left = b->width > taken ? b->width - taken : 0;
    return left < NARROW_CELLS ? NARROW_CELLS : left < LEAST_CELLS ? left : LEAST_CELLS;
}

size_t pct_branches_room(const struct pct_branches *b, struct pct_corner corner)
{
    size_t least = least_cells(b),
           before = b->figures + pct_text_cells(guide_of(b)) + pct_text_cells(corner.sign);
    if (!b->width)
        return 100000;
    return b->width > before + least ? b->width - before : least;
}

size_t pct_branches_rest_room(const struct pct_branches *b, struct pct_corner corner)
{
    return pct_branches_room(b, corner) - INDENT;
}

static void put_guide(const struct pct_branches *b, size_t taken, struct pct_buf *line)
{
    const char *rest = guide_of(b);
    size_t least = least_cells(b), most = b->width > taken + least ? b->width - taken - least : 0;
    bool cut = b->width && pct_text_cells(rest) > most;
    while (cut && pct_text_cells(rest) + STEP > most && *rest)
        rest += *rest == ' ' ? STEP : strcspn(rest, " ") + STEP - 1;
    pct_buf_format(line, "%s%s", !cut ? "" : b->utf8 ? "\xe2\x80\xa6  " : ".. ", rest);
}

/* Begins a line below a node. */
static void begin_below(const struct pct_branches *b, struct pct_corner corner,
                        struct pct_buf *line)
{
    pct_buf_text(line, "\n");
    pct_buf_fill(line, ' ', b->figures);
    put_guide(b, b->figures + pct_text_cells(corner.sign), line);
    pct_buf_format(line, "%s%*s", corner.below, INDENT, "");
}

size_t pct_name_part(const char *name, size_t room)
{
    size_t n = 0, cells = 0, end = 0, word_end = 0;
    for (; name[n]; n++) {
        bool begins = ((unsigned char)name[n] & 0xc0) != 0x80;
        if (begins && cells++ == room)
            return end ? end : word_end ? word_end : n;
        if (cells <= room / 3)
            continue;
        if (name[n] == '+' && name[n + 1] == '0') /* an address */
            end = n;
        else if (cells < room && strchr(":<, ", name[n]) && name[n + 1] != ':')
            end = n + 1;
        else if (strchr("_-.", name[n]))
            word_end = n + 1;
    }
    return n;
}

/* Appends the name, in parts on several lines if it is too long for one. */
static void put_name(const struct pct_branches *b, struct pct_corner corner,
                     const struct pct_branch *what, struct pct_buf *line)
{
    size_t room = pct_branches_room(b, corner);
    for (const char *name = what->name; *name;) {
        size_t n = pct_name_part(name, room), shown = n;
        while (name[n] && shown > 1 && name[shown - 1] == ' ')
            shown--;
        if (name != what->name)
            begin_below(b, corner, line);
        pct_buf_format(line, "%s%.*s%s", what->name_color, (int)shown, name,
                       *what->name_color ? what->plain : "");
        name += n + strspn(name + n, " ");
        room = pct_branches_rest_room(b, corner);
    }
}

/* Prints the rest on separate lines, and a word that fits no line in parts; one of many parts is
 * cut. */
static void put_below(const struct pct_branches *b, struct pct_corner corner,
                      const struct pct_branch *what, struct pct_buf *line)
{
    size_t room = pct_branches_rest_room(b, corner);
    const char *text = what->rest + strspn(what->rest, " ");
    for (const char *next; *text; text = next) {
        size_t n = pc_wrap(text, room, &next);
        struct pct_buf words = {0};
        pct_buf_format(&words, "%.*s", (int)n, text);
        size_t cells = pct_text_cells(words.data);
        if (cells > room && cells <= MOST_PARTS * room) {
            words.n = pct_name_part(text, room);
            words.data[words.n] = 0;
            next = text + words.n;
        }
        begin_below(b, corner, line);
        pct_buf_text(line, what->rest_color);
        pct_text_cut(line, words.data, room, b->utf8);
        pct_buf_text(line, *what->rest_color ? what->plain : "");
        pct_buf_free(&words);
    }
}

void pct_branches_put(const struct pct_branches *b, const char *figures, struct pct_corner corner,
                      const struct pct_branch *what)
{
    struct pct_buf line = {0};
    pct_buf_text(&line, figures);
    put_guide(b, b->figures + pct_text_cells(corner.sign), &line);
    pct_buf_text(&line, corner.sign);
    put_name(b, corner, what, &line);
    if (what->beside)
        pct_buf_format(&line, "%s%s%s", what->rest_color, what->rest,
                       *what->rest_color ? what->plain : "");
    else
        put_below(b, corner, what, &line);
    fprintf(b->out, "%s\n", line.data);
    pct_buf_free(&line);
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* With more branches than this, deeper nodes are only in tables. */
enum { MAX_BRANCHES = 100 };

uint32_t pct_shown_only(const struct pct_shown_tree *t, uint32_t node)
{
    uint32_t first = t->next(t->tree, node, PC_NO_INDEX);
    if (first == PC_NO_INDEX || t->next(t->tree, node, first) != PC_NO_INDEX)
        return PC_NO_INDEX;
    return t->has_more && t->has_more(t->tree, node) ? PC_NO_INDEX : first;
}

/* Prints a node and those below it that have no siblings. Returns the last one; *depth: its lines.
 */
static uint32_t put_run(struct pct_branches *b, const struct pct_shown_tree *t, uint32_t node,
                        struct pct_corner corner, unsigned *depth)
{
    for (;;) {
        uint32_t end = t->put(t->tree, node, corner);
        pct_buf_text(&b->guide, corner.below);
        ++*depth;
        node = t->depth && *depth >= t->depth ? PC_NO_INDEX : pct_shown_only(t, end);
        if (node == PC_NO_INDEX)
            return end;
        corner = corner_of(b, true, false);
    }
}

static void put_children(struct pct_branches *b, const struct pct_shown_tree *t, uint32_t node,
                         unsigned depth, unsigned n_branches)
{
    size_t n_guide = b->guide.n;
    if ((t->depth && depth >= t->depth) || n_branches > MAX_BRANCHES)
        return;
    bool more = t->has_more && t->has_more(t->tree, node);
    uint32_t first = t->next(t->tree, node, PC_NO_INDEX);
    /* One of several roots would look as if the one before had called it. */
    bool several = first != PC_NO_INDEX && t->next(t->tree, node, first) != PC_NO_INDEX;
    bool top = n_branches == 0 && !several;
    for (uint32_t i = first; i != PC_NO_INDEX;) {
        uint32_t next = t->next(t->tree, node, i);
        unsigned at = depth;
        bool last = next == PC_NO_INDEX && !more;
        uint32_t end = put_run(b, t, i, corner_of(b, top, last), &at);
        put_children(b, t, end, at, n_branches + 1);
        b->guide.n = n_guide;
        b->guide.data[n_guide] = 0;
        i = next;
    }
    if (more)
        t->put_more(t->tree, node, corner_of(b, top, true));
}

void pct_branches_put_tree(struct pct_branches *b, const struct pct_shown_tree *t, uint32_t node)
{
    pct_buf_put(&b->guide, "", 0);
    put_children(b, t, node, 0, 0);
    pct_buf_free(&b->guide);
}
