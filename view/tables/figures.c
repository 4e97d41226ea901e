/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of MPI calls as values of columns: see figures.h.
 */
#include "view/tables/figures.h"

static void set_metric(const struct pct_data *d, const pc_u128 *sum, enum pct_metric metric,
                       struct pct_value *out)
{
    out->none = !d->totals->has[metric];
    out->number = sum[metric];
}

/* Bound of a duration: 0 means that no call was seen completely. */
static void set_bound(uint64_t ns, struct pct_value *out)
{
    out->none = !ns;
    out->number = ns;
}

void pct_spread_value(struct pct_spread s, bool empty, enum pct_figure which, struct pct_value *out)
{
    out->none = !s.n && !(empty && which == PCT_FIGURE_RANKS);
    switch (which) {
    case PCT_FIGURE_RANKS:
        out->number = s.n;
        break;
    case PCT_FIGURE_RANK_MIN:
        out->number = s.min;
        break;
    case PCT_FIGURE_MIN_RANK:
        out->integer = s.min_rank;
        break;
    case PCT_FIGURE_RANK_MAX:
        out->number = s.max;
        break;
    default:
        out->integer = s.max_rank;
    }
}

void pct_id_value(const struct pct_data *d, uint64_t context, struct pct_value *out)
{
    struct pct_buf text = {0};
    out->none = !context;
    if (out->none)
        return;
    pct_buf_hex(&text, context);
    pct_value_plain(pct_pool_intern(d->pool, text.data), out);
    pct_buf_free(&text);
}

void pct_path_value(const struct pct_tree *t, uint32_t node, struct pct_value *out)
{
    out->none = !node;
    out->tree = t;
    out->node = node;
}

void pct_frame_value(uint32_t node, struct pct_value *out)
{
    out->none = !node;
    out->integer = node;
}

void pct_figure(const struct pct_data *d, struct pct_figures f, enum pct_figure which,
                struct pct_value *out)
{
    static const enum pct_metric metrics[] = {
        [PCT_FIGURE_CALLS] = PCT_CALLS,         [PCT_FIGURE_TIME] = PCT_TIME,
        [PCT_FIGURE_SENT] = PCT_SENT,           [PCT_FIGURE_RECEIVED] = PCT_RECEIVED,
        [PCT_FIGURE_EXCLUSIVE] = PCT_EXCLUSIVE,
    };
    switch (which) {
    case PCT_FIGURE_CALLS:
    case PCT_FIGURE_TIME:
    case PCT_FIGURE_SENT:
    case PCT_FIGURE_RECEIVED:
    case PCT_FIGURE_EXCLUSIVE:
        set_metric(d, f.sum, metrics[which], out);
        break;
    case PCT_FIGURE_MEAN:
        out->none = !f.sum[PCT_CALLS];
        out->number = pct_call_sum_mean(f.sum);
        break;
    case PCT_FIGURE_MIN:
        set_bound(f.min_ns, out);
        break;
    case PCT_FIGURE_MAX:
        set_bound(f.max_ns, out);
        break;
    case PCT_FIGURE_MPI_PERCENT:
        out->number = pct_text_share(f.sum[PCT_EXCLUSIVE], pct_data_mpi_ns(d));
        break;
    default:
        pct_spread_value(f.spread, !f.sum[PCT_CALLS], which, out);
    }
}

const char *pct_field_name(const struct pct_data *d, const struct pc_profile_field *f,
                           const char *suffix)
{
    struct pct_buf b = {0};
    pct_text_escape(&b, f->plugin, PCT_ESCAPE_NAME);
    pct_buf_text(&b, ".");
    pct_text_escape(&b, f->name, PCT_ESCAPE_NAME);
    pct_buf_text(&b, suffix);
    const char *kept = pct_pool_intern(d->pool, b.data);
    pct_buf_free(&b);
    return kept;
}

enum pct_type pct_field_type(const struct pc_profile_field *f)
{
    return f->unit == PCOLLECT_UNIT_BYTES ? PCT_BYTES
           : f->unit == PCOLLECT_UNIT_NS  ? PCT_NS
                                          : PCT_COUNT;
}
