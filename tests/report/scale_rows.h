/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of pcollect scale have in common: calls of a made run, and rows of a comparison.
 */
#ifndef PC_TEST_SCALE_ROWS_H
#define PC_TEST_SCALE_ROWS_H

#include "analysis/compare/compared_run_private.h"
#include "analysis/symbols/symbols_private.h"
#include "sample.h"
#include "view/compare_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double ms = 1e6;
enum { SOLVER = 0x1000 }; /* where the function begins */

/* Ten calls of each rank from the newest context. */
static inline void add_calls(struct sample *s, unsigned p, double time_ms)
{
    for (unsigned r = 0; r < p; r++)
        sample_add(s, &(struct sample_calls){.rank = (int32_t)r,
                                             .count = 10,
                                             .time = (uint64_t)llround(time_ms * ms),
                                             .min = 1,
                                             .max = (uint64_t)llround(time_ms * ms),
                                             .sent = 80});
}

/* Makes a run of /bin/solver on p ranks, each of which computes in solve, and calls MPI_Allreduce
 * there if it has time in it. sample_end() is left to the caller. */
static inline void make_solver(struct sample *s, unsigned p, double mpi_ms, double compute_ms)
{
    sample_begin(s);
    s->modules[0] = (struct pc_profile_module){.build_id = {1},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/solver"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};
    s->p.exe = (char *)"/bin/solver";
    s->p.n_modules = s->p.n_ops = 1;
    s->p.n_ranks = s->p.world_size = p;
    uint32_t in_solve = sample_frame(s, 0, 0, SOLVER);
    if (mpi_ms > 0) {
        sample_op(s, in_solve, 0);
        add_calls(s, p, mpi_ms);
    }
    for (unsigned r = 0; r < p; r++)
        s->ranks[r] =
            (struct pc_profile_rank){.rank = (int32_t)r,
                                     .host = (char *)"node",
                                     .inside_ns = (uint64_t)llround((mpi_ms + compute_ms) * ms),
                                     .mpi_ns = (uint64_t)llround(mpi_ms * ms),
                                     .closed = 1};
}

static inline void adopt_solver(struct pct_run *run, struct sample *s)
{
    static struct pct_frame frame = {"solve", "a.c", 100, false, false};
    struct pct_symbols *symbols = pct_symbols_new(&s->p);
    pct_symbols_teach(symbols, 0, SOLVER, (struct pct_place){&frame, 1});
    pct_run_adopt(run, "run", &s->p, symbols);
}

static inline void assert_says(const struct pct_scale *s, const char *what)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    pct_scale_print(out, s, &(struct pct_compare_print){.width = 0});
    fclose(out);
    if (!strstr(text, what))
        fail_msg("%s\nin\n%s", what, text);
    free(text);
}

static inline const struct pct_scale_row *row_named(const struct pct_scale *s, const char *start)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        if (!strncmp(s->rows[i].place, start, strlen(start)))
            return &s->rows[i];
    }
    fail_msg("no row %s", start);
    return NULL;
}

static inline bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * (fabs(a) + fabs(b)) + 1;
}

#endif
