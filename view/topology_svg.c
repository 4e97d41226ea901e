/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The matrix as a picture: a row for each source, a column for each destination; darker cells have
 * more bytes (on a logarithmic scale). Above MAX_CELLS ranks several share a cell. Lines separate
 * nodes if the ranks of a node are consecutive.
 */
#include "view/svg.h"
#include "view/topology_print.h"

#include <math.h>

enum { MAX_CELLS = 512, PICTURE = 640, MARGIN = 40 };

struct picture {
    uint32_t n, per_cell;
    double side;
    uint64_t *bytes; /* n x n */
    uint64_t most;
};

static void add_pairs(struct picture *p, const struct pct_topology *t)
{
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct pct_pair *pair = &t->pairs[i];
        if (pair->source < 0 || pair->destination < 0)
            continue;
        uint64_t *cell = &p->bytes[(size_t)(pair->source / (int32_t)p->per_cell) * p->n +
                                   (uint32_t)pair->destination / p->per_cell];
        *cell += pair->bytes ? pair->bytes : pair->messages;
        p->most = *cell > p->most ? *cell : p->most;
    }
}

static void put_cells(FILE *out, const struct picture *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t j = 0; j < p->n; j++) {
            uint64_t bytes = p->bytes[(size_t)i * p->n + j];
            if (!bytes)
                continue;
            double dark = p->most > 1 ? log1p((double)bytes) / log1p((double)p->most) : 1;
            fprintf(out,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                    "fill-opacity=\"%.3f\"><title>%u to %u: %llu</title></rect>\n",
                    MARGIN + j * p->side, MARGIN + i * p->side, p->side, p->side, 0.1 + 0.9 * dark,
                    i * p->per_cell, j * p->per_cell, (unsigned long long)bytes);
        }
    }
}

static void put_node_lines(FILE *out, const struct picture *p, const struct pct_topology *t)
{
    double end = MARGIN + p->n * p->side;
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
    struct picture p = {.per_cell = (t->n_ranks + MAX_CELLS - 1) / MAX_CELLS};
    p.per_cell = p.per_cell ? p.per_cell : 1;
    p.n = (t->n_ranks + p.per_cell - 1) / p.per_cell;
    p.side = p.n ? (double)PICTURE / p.n : PICTURE;
    p.bytes = pct_alloc((size_t)p.n * p.n, sizeof *p.bytes);
    add_pairs(&p, t);
    pct_svg_begin(out, PICTURE + 2 * MARGIN, PICTURE + 2 * MARGIN);
    fprintf(out,
            "<text x=\"%d\" y=\"16\">destination, 0 to %u</text>\n"
            "<text transform=\"translate(16 %d) rotate(-90)\">source, 0 to %u</text>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444\"/>\n"
            "<g fill=\"" PCT_SVG_BLUE "\">\n",
            MARGIN, t->n_ranks ? t->n_ranks - 1 : 0, MARGIN + PICTURE,
            t->n_ranks ? t->n_ranks - 1 : 0, MARGIN, MARGIN, PICTURE, PICTURE);
    put_cells(out, &p);
    fputs("</g>\n", out);
    put_node_lines(out, &p, t);
    pct_svg_end(out);
    pct_free(p.bytes);
}
