/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The matrix as a picture: a row for each source, a column for each destination; darker cells have
 * more bytes (on a logarithmic scale), or, if no message has any, more messages; below it is the
 * scale, above it the name of the profile and the pattern. Numbers of ranks are beside rows and
 * above columns, as many as have room. Above MAX_CELLS ranks several share a cell. Lines separate
 * nodes if the ranks of each are consecutive, and there are not so many nodes that the lines would
 * hide the cells.
 */
#include "view/svg.h"
#include "view/topology_print.h"

#include <math.h>
#include <string.h>

enum { MAX_CELLS = 512, PICTURE = 640, MARGIN = 48, LEGEND = 40, MOST_NODES = 100 };

struct picture {
    uint32_t n, per_cell, n_ranks;
    double side;
    struct cell {
        uint64_t bytes, messages;
    } * cells;        /* n x n */
    bool in_messages; /* there are no bytes */
    uint64_t most;    /* bytes, or messages, of a cell */
};

static uint64_t value_of(const struct picture *p, const struct cell *c)
{
    return p->in_messages ? c->messages : c->bytes;
}

static double opacity_of(const struct picture *p, uint64_t value)
{
    return 0.1 + 0.9 * (p->most > 1 ? log1p((double)value) / log1p((double)p->most) : 1);
}

static void add_pairs(struct picture *p, const struct pct_topology *t)
{
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct pct_pair *pair = &t->pairs[i];
        if (pair->source < 0 || pair->destination < 0)
            continue;
        struct cell *cell = &p->cells[(size_t)(pair->source / (int32_t)p->per_cell) * p->n +
                                      (uint32_t)pair->destination / p->per_cell];
        cell->bytes += pair->bytes;
        cell->messages += pair->messages;
        p->in_messages &= !pair->bytes;
    }
    for (size_t i = 0; i < (size_t)p->n * p->n; i++)
        p->most = value_of(p, &p->cells[i]) > p->most ? value_of(p, &p->cells[i]) : p->most;
}

/* "5", or of several ranks in a row or column "ranks 10-14". */
static const char *name_ranks(char *text, size_t size, const struct picture *p, uint32_t at)
{
    uint32_t first = at * p->per_cell, end = first + p->per_cell;
    end = end < p->n_ranks ? end : p->n_ranks;
    if (p->per_cell == 1)
        pct_text_format(text, size, "%u", first);
    else if (end - first == 1)
        pct_text_format(text, size, "rank %u", first);
    else
        pct_text_format(text, size, "ranks %u-%u", first, end - 1);
    return text;
}

static void put_cells(FILE *out, const struct picture *p)
{
    char bytes[PCT_NUMBER_BYTES], messages[PCT_NUMBER_BYTES], from[48], to[48];
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t j = 0; j < p->n; j++) {
            const struct cell *c = &p->cells[(size_t)i * p->n + j];
            if (!c->bytes && !c->messages)
                continue;
            fprintf(out,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                    "fill-opacity=\"%.3f\"><title>%s to %s: %s, %s message%s</title></rect>\n",
                    MARGIN + j * p->side, MARGIN + i * p->side, p->side, p->side,
                    opacity_of(p, value_of(p, c)), name_ranks(from, sizeof from, p, i),
                    name_ranks(to, sizeof to, p, j), pct_text_bytes(bytes, c->bytes),
                    pct_text_count(messages, c->messages), c->messages == 1 ? "" : "s");
        }
    }
}

/* Writes ranks beside their rows and above their columns: all, or those that a round number divides
 * so that there are ROOM pixels between two; none if these are too long. */
static void put_ranks(FILE *out, const struct picture *p)
{
    enum { ROOM = 40, BASELINE = 4, GAP = 4, MOST_RANKS = 100000 };
    double side = p->side / p->per_cell;
    uint32_t step = 1;
    char text[16];
    for (uint32_t power = 1; step * side < ROOM && power < p->n_ranks; power *= 10)
        for (uint32_t i = 0; i < 3 && step * side < ROOM; i++)
            step = power * (i == 0 ? 2 : i == 1 ? 5 : 10);
    for (uint32_t r = 0; r < p->n_ranks && p->n_ranks <= MOST_RANKS; r += step) {
        double at = MARGIN + ((double)(r / p->per_cell) + 0.5) * p->side;
        pct_text_format(text, sizeof text, "%u", r);
        pct_svg_text(out, at, MARGIN - GAP, "middle", text);
        pct_svg_text(out, MARGIN - GAP, at + BASELINE, "end", text);
    }
}

/* Writes the name of the profile, the ranks and the pattern above the right end of the matrix. The
 * pattern says so if there are no messages. */
static void put_title(FILE *out, const struct pct_topology_view *v)
{
    const char *slash = strrchr(v->file, '/');
    uint32_t n_ranks = v->topology->n_ranks;
    char n[PCT_NUMBER_BYTES];
    struct pct_buf title = {0}, pattern = {0};
    pct_buf_format(&title, "%s, %s rank%s", slash ? slash + 1 : v->file, pct_text_count(n, n_ranks),
                   n_ranks == 1 ? "" : "s");
    pct_pattern_text(v->pattern, &pattern);
    pct_svg_text(out, MARGIN + PICTURE, 14, "end", title.data);
    pct_svg_text(out, MARGIN + PICTURE, 29, "end", pattern.data);
    pct_buf_free(&pattern);
    pct_buf_free(&title);
}

/* Writes what a cell is, and boxes with values from little to the most; nothing without messages.
 */
static void put_legend(FILE *out, const struct picture *p)
{
    enum { BOX = 12, STEPS = 4, STEP = 84, Y = 2 * MARGIN + PICTURE };
    double x = MARGIN + PICTURE - STEPS * STEP;
    char text[128], n[PCT_NUMBER_BYTES];
    if (!p->most)
        return;
    pct_svg_text(out, MARGIN + PICTURE, Y + 16, "end", "logarithmic scale of colours");
    pct_text_format(text, sizeof text, "%s from source to destination%s",
                    p->in_messages ? "messages" : "bytes", p->per_cell > 1 ? " of a cell" : "");
    pct_svg_text(out, MARGIN, Y, "start", text);
    if (p->per_cell > 1) {
        pct_text_format(text, sizeof text, "%s ranks share a row or column",
                        pct_text_count(n, p->per_cell));
        pct_svg_text(out, MARGIN, Y + 16, "start", text);
    }
    for (int i = 1; i <= STEPS; i++, x += STEP) {
        uint64_t value = i == STEPS ? p->most : (uint64_t)expm1(log1p((double)p->most) * i / STEPS);
        if (!value || (i < STEPS && value == p->most))
            continue;
        fprintf(out,
                "<rect x=\"%.2f\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"" PCT_SVG_BLUE
                "\" fill-opacity=\"%.3f\"/>\n",
                x, Y - BOX + 2, BOX, BOX, opacity_of(p, value));
        pct_svg_text(out, x + BOX + 5, Y, "start",
                     p->in_messages ? pct_text_count(n, value) : pct_text_bytes(n, value));
    }
}

static void put_node_lines(FILE *out, const struct picture *p, const struct pct_topology *t)
{
    double end = MARGIN + p->n * p->side;
    uint32_t n_parts = 1; /* more than nodes: some node has ranks in two places */
    for (uint32_t r = 1; r < t->n_ranks; r++)
        n_parts += t->places[r].node != t->places[r - 1].node;
    if (n_parts > t->n_nodes || n_parts > MOST_NODES)
        return;
    for (uint32_t r = 1; r < t->n_ranks; r++) {
        if (t->places[r].node == t->places[r - 1].node)
            continue;
        double at = MARGIN + (double)r / p->per_cell * p->side;
        fprintf(out,
                "<path d=\"M%.2f %d V%.2f M%d %.2f H%.2f\" stroke=\"#888\" stroke-width=\"0.5\" "
                "fill=\"none\"/>\n",
                at, MARGIN, end, MARGIN, at, end);
    }
}

void pct_topology_print_svg(FILE *out, const struct pct_topology_view *v)
{
    const struct pct_topology *t = v->topology;
    struct picture p = {.in_messages = true,
                        .per_cell = (t->n_ranks + MAX_CELLS - 1) / MAX_CELLS,
                        .n_ranks = t->n_ranks};
    p.per_cell = p.per_cell ? p.per_cell : 1;
    p.n = (t->n_ranks + p.per_cell - 1) / p.per_cell;
    p.side = p.n ? (double)PICTURE / p.n : PICTURE;
    p.cells = pct_alloc((size_t)p.n * p.n, sizeof *p.cells);
    add_pairs(&p, t);
    pct_svg_begin(out, PICTURE + 2 * MARGIN, PICTURE + 2 * MARGIN + LEGEND);
    fprintf(out,
            "<text x=\"%d\" y=\"16\">destination, 0 to %u</text>\n"
            "<text transform=\"translate(2 %d) rotate(90)\">source, 0 to %u</text>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444\"/>\n"
            "<g fill=\"" PCT_SVG_BLUE "\">\n",
            MARGIN, t->n_ranks ? t->n_ranks - 1 : 0, MARGIN, t->n_ranks ? t->n_ranks - 1 : 0,
            MARGIN, MARGIN, PICTURE, PICTURE);
    put_cells(out, &p);
    fputs("</g>\n", out);
    put_node_lines(out, &p, t);
    put_ranks(out, &p);
    put_title(out, v);
    put_legend(out, &p);
    pct_svg_end(out);
    pct_free(p.cells);
}
