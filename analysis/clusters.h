/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points that lie in groups with gaps between them. The number of groups is not given: points
 * without a gap between them are one group, however wide it is.
 */
#ifndef PCT_CLUSTERS_H
#define PCT_CLUSTERS_H

#include <stdint.h>

enum { PCT_POINTS_COORDINATES = 32 };

/* n points of d coordinates each, at most PCT_POINTS_COORDINATES: point i at x + i * d. Points
 * whose coordinates go up and down slowly with i count less than independent ones. Points that are
 * nearer to each other than `least` are not separated. */
struct pct_points {
    const float *x;
    uint32_t n, d;
    float least;
};

/* Writes the group of each point, from 0 in the order of their first points; at most `most` groups.
 * Returns how many there are; 0 if there is no point. The same points give the same groups.
 * MT-safe. */
uint32_t pct_clusters_find(const struct pct_points *points, uint32_t most, uint16_t *group);

#endif
