/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traffic between ranks and the proposed placement as text, tsv, JSON, picture, and files for
 * launchers.
 */
#ifndef PCT_TOPOLOGY_PRINT_H
#define PCT_TOPOLOGY_PRINT_H

#include "analysis/traffic/traffic.h"

#include <stdio.h>

/* Writes the placement as an Open MPI rankfile, or as a host list for Hydra, MPICH's launcher,
 * which knows only nodes.
 */
/* Appends a JSON object with the placement, and with the names of the nodes if `names`; null if
 * there is no placement, or no choice. */
void pct_placement_json(struct pct_buf *b, const struct pct_placement *p, const struct pct_slots *s,
                        bool names);
void pct_placement_rankfile(FILE *out, const struct pct_placement *p, const struct pct_slots *s);
void pct_placement_hosts(FILE *out, const struct pct_placement *p, const struct pct_slots *s);

/* ---- Output --------------------------------------------------------------------------------- */

struct pct_topology_view {
    const char *file;
    const struct pct_topology *topology;
    const struct pct_graph *graph;
    const struct pct_pattern *pattern;
    const struct pct_placement *placement; /* NULL: ranks are missing */
    const struct pct_slots *slots;         /* of the placement */
    size_t top;                            /* pairs in the text */
    size_t width;                          /* of the text, in columns; 0: no limit */
};

void pct_topology_print_text(FILE *out, const struct pct_topology_view *v);
void pct_topology_print_tsv(FILE *out, const struct pct_topology_view *v);
void pct_topology_print_json(FILE *out, const struct pct_topology_view *v);
void pct_topology_print_svg(FILE *out, const struct pct_topology_view *v);

#endif
