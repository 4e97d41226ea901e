/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The check of every invariant that profile.h states. It runs on everything that is decoded, so
 * that readers may rely on it.
 */
#include "format/build.h"

static int refuse(struct pc_error *error, const char *what, size_t index)
{
    return pc_error_set(error, PC_EFORMAT, "%s (number %zu)", what, index);
}

static int check_ranks(const struct pc_profile *p, struct pc_error *error)
{
    if (p->world_size > INT32_MAX || p->n_ranks > p->world_size)
        return refuse(error, "more ranks than the job had", p->n_ranks);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        if (p->ranks[i].rank < 0 || (uint32_t)p->ranks[i].rank >= p->world_size)
            return refuse(error, "a rank outside of the job", i);
        if (i && p->ranks[i - 1].rank >= p->ranks[i].rank)
            return refuse(error, "ranks are not in order", i);
    }
    return PC_OK;
}

static int check_tables(const struct pc_profile *p, struct pc_error *error)
{
    for (uint32_t i = 0; i < p->n_modules; i++) {
        if (p->modules[i].build_id_bytes > PCOLLECT_BUILD_ID_BYTES)
            return refuse(error, "a build-id is too long", i);
        if (i && pc_module_compare(&p->modules[i - 1], &p->modules[i]) >= 0)
            return refuse(error, "modules are not in order", i);
    }
    for (uint32_t i = 1; i < p->n_ops; i++)
        if (strcmp(p->ops[i - 1].name, p->ops[i].name) >= 0)
            return refuse(error, "primitives are not in order", i);
    if (p->n_fields > PC_PROFILE_MAX_FIELDS)
        return refuse(error, "too many fields", p->n_fields);
    for (uint32_t i = 0; i < p->n_fields; i++) {
        if (!pc_field_valid(&p->fields[i]))
            return refuse(error, "a field has an unknown kind", i);
        if (i && pc_field_compare(&p->fields[i - 1], &p->fields[i]) >= 0)
            return refuse(error, "fields are not in order", i);
        if ((p->fields[i].group == PCOLLECT_GROUP_COMM) != (i < p->n_comm))
            return refuse(error, "a field in a wrong group", i);
    }
    return PC_OK;
}

/* True if the node may be below one of the kind `above`, and may have a record. */
static bool node_hangs_well(const struct pc_profile_node *n, unsigned above)
{
    if (n->data != PC_NO_INDEX && !pcollect_node_has_record(n->kind))
        return false;
    switch (n->kind) {
    case PCOLLECT_NODE_DOMAIN:
        return above == PCOLLECT_NODE_OP;
    case PCOLLECT_NODE_PHASE:
        return above == PCOLLECT_NODE_ROOT;
    case PCOLLECT_NODE_REGION:
        return above == PCOLLECT_NODE_ROOT || above == PCOLLECT_NODE_PHASE ||
               above == PCOLLECT_NODE_REGION;
    default:
        return true;
    }
}

/* True if the node has only references that its kind may have. */
static bool node_refers_well(const struct pc_profile *p, const struct pc_profile_node *n)
{
    switch (n->kind) {
    case PCOLLECT_NODE_ROOT:
        return n->parent == PC_NO_INDEX && n->module == PC_NO_INDEX && n->op == PC_NO_INDEX &&
               !n->offset;
    case PCOLLECT_NODE_FRAME:
    case PCOLLECT_NODE_POINT:
        return (n->module < p->n_modules || n->module == PC_NO_INDEX) && n->op == PC_NO_INDEX;
    case PCOLLECT_NODE_OP:
        return n->op < p->n_ops && n->module == PC_NO_INDEX && !n->offset;
    case PCOLLECT_NODE_CUT:
        return n->op == PC_NO_INDEX && n->module == PC_NO_INDEX && !n->offset;
    case PCOLLECT_NODE_DOMAIN:
    case PCOLLECT_NODE_PHASE:
    case PCOLLECT_NODE_REGION:
        return n->op == PC_NO_INDEX && n->module == PC_NO_INDEX;
    default:
        return false;
    }
}

const char *pc_node_check(const struct pc_profile *p, const struct pc_profile_node *n,
                          const struct pc_profile_node *above, const struct pc_profile_node *left)
{
    if (!above && n->kind != PCOLLECT_NODE_ROOT)
        return "the first context is not the root";
    if (!node_refers_well(p, n))
        return "a context of unknown kind or with a wrong reference";
    if (above && !node_hangs_well(n, above->kind))
        return "a context of this kind cannot be at this place, or cannot have a record";
    return left && pc_node_compare(left, n) >= 0 ? "contexts are not in order" : NULL;
}

/* Checks the subtrees that end before node i, from node i - 1 up to `parent` (or all, with
 * PC_NO_INDEX): each must have the size that it claims. *left_out: the last of them, which is the
 * sibling before i. False: a wrong size, or `parent` is not an ancestor. Every subtree is left
 * once, so the whole check is linear. */
static bool leave_subtrees(const struct pc_profile *p, uint32_t i, uint32_t parent,
                           uint32_t *left_out)
{
    uint32_t at = i - 1;
    *left_out = PC_NO_INDEX;
    while (at != parent) {
        if (at == PC_NO_INDEX || p->nodes[at].n_descendants != i - 1 - at)
            return false;
        *left_out = at;
        at = p->nodes[at].parent;
    }
    return true;
}

static int check_nodes(const struct pc_profile *p, struct pc_error *error)
{
    uint32_t n_data = 0, left = PC_NO_INDEX;
    if (!p->n_nodes || p->nodes[0].parent != PC_NO_INDEX)
        return refuse(error, "the first context is not the root", 0);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->data != PC_NO_INDEX && n->data != n_data++)
            return refuse(error, "the records are not in the order of their contexts", i);
        if (i && (n->parent >= i || !leave_subtrees(p, i, n->parent, &left)))
            return refuse(error, "a context is at a wrong place in the tree", i);
        const char *wrong = pc_node_check(p, n, i ? &p->nodes[n->parent] : NULL,
                                          left == PC_NO_INDEX ? NULL : &p->nodes[left]);
        if (wrong)
            return refuse(error, wrong, i);
    }
    if (!leave_subtrees(p, p->n_nodes, PC_NO_INDEX, &left))
        return refuse(error, "a context has a wrong number of descendants", 0);
    if (n_data != p->n_data)
        return refuse(error, "a record without a context", n_data);
    return PC_OK;
}

/* True if a statistic is possible; for records without values to compute it from. */
static bool stat_is_possible(const struct pc_profile *p, const struct pc_profile_data *d,
                             uint32_t k)
{
    const struct pc_stat stat = pc_data_stat(p, d, k), *s = &stat;
    bool is_hist = p->fields[k].combine == PCOLLECT_HIST;
    if (is_hist)
        return s->n == d->n_ranks && !s->sum && !s->sum_squares && !s->min && !s->max &&
               !s->min_rank && !s->max_rank;
    if (!s->n)
        return !s->sum && !s->sum_squares && !s->min && !s->max && !s->min_rank && !s->max_rank;
    return s->n <= d->n_ranks && s->min <= s->max && s->sum >= s->max &&
           pc_profile_has_rank(p, s->min_rank) && pc_profile_has_rank(p, s->max_rank);
}

static int check_statistics(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                            struct pc_error *error)
{
    if (d->kept && !p->statistics_only)
        return refuse(error, "a record without the values that it keeps", i);
    if (d->n_ranks > p->n_ranks || !pc_profile_has_rank(p, d->first_rank))
        return refuse(error, "a record of too many ranks", i);
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        if (!stat_is_possible(p, d, k))
            return refuse(error, "a record with impossible statistics", i);
    return PC_OK;
}

static bool has_right_bins(const struct pc_profile *p, const struct pc_profile_data *d)
{
    bool right = true;
    if (d->is_coded)
        return d->coded && p->bins_room;
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        bool expected = p->fields[k].combine == PCOLLECT_HIST && !p->no_bins;
        right &= expected == (pc_data_bins(p, d, k) != NULL);
    }
    return right;
}

static int check_list(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                      const struct pc_by_rank *by, struct pc_error *error)
{
    if (d->first_rank != by->ranks[0])
        return refuse(error, "a record with a wrong first rank", i);
    for (uint32_t r = 0; r < by->n; r++) {
        if (!pc_profile_has_rank(p, by->ranks[r]))
            return refuse(error, "a record of an unknown rank", i);
        if (r && by->ranks[r - 1] >= by->ranks[r])
            return refuse(error, "the ranks of a record are not in order", i);
    }
    return PC_OK;
}

/* Checks the times of record i that are in steps: their sum is near that which was measured. The
 * least and the greatest are no less than those that were measured: what is added to a file may
 * have made them greater. */
static int check_steps(const struct pc_stat *stat, uint32_t i, const struct pc_by_rank *by,
                       struct pc_error *error)
{
    pc_u128 sum = 0;
    uint64_t most = 0, least = by->steps[0];
    for (uint32_t r = 0; r < by->n; r++) {
        uint16_t step = by->steps[r * by->stride];
        if (!pc_step_valid(step))
            return refuse(error, "a record with an unknown step", i);
        sum += pc_step_value(step);
        most = step > most ? step : most;
        least = step < least ? step : least;
    }
    pc_u128 off = sum > stat->sum ? sum - stat->sum : stat->sum - sum;
    if (off > stat->sum / (PC_STEPS / 2) || least < pc_step_of(stat->min) ||
        most < pc_step_of(stat->max))
        return refuse(error, "a record with times that are not near its statistics", i);
    return PC_OK;
}

/* Checks a record of one rank whose statistics are those of its row of values by definition. */
static int check_row(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                     struct pc_error *error)
{
    uint64_t of_histograms = 0;
    if (d->first_field >= p->n_fields)
        return refuse(error, "a record without fields", i);
    if (d->n_ranks != 1 || d->first_rank != d->ranks[0])
        return refuse(error, "a record with a wrong first rank", i);
    if (!pc_profile_has_rank(p, d->ranks[0]))
        return refuse(error, "a record of an unknown rank", i);
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        if (p->fields[k].combine == PCOLLECT_HIST)
            of_histograms |= d->values[k - d->first_field];
    return of_histograms ? refuse(error, "a record with a value for a histogram", i) : PC_OK;
}

int pc_record_check_values(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                           struct pc_error *error)
{
    int err = PC_OK;
    bool first = true;
    if (d->form == PC_FORM_LONE && d->lone == d->values)
        return check_row(p, d, i, error);
    for (uint32_t k = d->first_field; k < p->n_fields && !err; k++) {
        if (d->kept == PC_KEPT_STEPS && !pc_field_in_steps(p, d, k))
            continue;
        struct pc_by_rank by = pc_data_by_rank(p, d, k);
        bool is_hist = p->fields[k].combine == PCOLLECT_HIST;
        if (by.n != d->n_ranks)
            return pc_error_set(error, PC_EFORMAT, "%s", pc_profile_unread(p));
        if (first)
            err = check_list(p, d, i, &by, error);
        first = false;
        const struct pc_stat kept = pc_data_stat(p, d, k);
        if (by.steps) {
            err = err ? err : check_steps(&kept, i, &by, error);
            continue;
        }
        for (uint32_t r = 0; is_hist && r < by.n; r++)
            if (pc_by_rank_value(&by, r))
                return refuse(error, "a record with a value for a histogram", i);
        struct pc_stat listed = pc_stat_of(p, &by, k);
        if (!err && !pc_stat_same(&listed, &kept))
            return refuse(error, "a record with wrong statistics", i);
    }
    return err || !first ? err : refuse(error, "a record without times keeps them", i);
}

int pc_record_check(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                    struct pc_error *error)
{
    if (!d->n_ranks)
        return refuse(error, "a record of no rank", i);
    if (p->per_rank && d->n_ranks > p->per_rank && d->kept)
        return refuse(error, "a record with values of too many ranks", i);
    if (!has_right_bins(p, d))
        return refuse(error, "a record with wrong bins", i);
    if (!d->ranks)
        return check_statistics(p, d, i, error);
    return pc_record_check_values(p, d, i, error);
}

static int check_data(const struct pc_profile *p, const struct pc_profile_node *n,
                      struct pc_error *error)
{
    const struct pc_profile_data *d = &p->data[n->data];
    if (d->first_field != (n->kind == PCOLLECT_NODE_POINT ? p->n_comm : 0))
        return refuse(error, "a record with wrong fields", n->data);
    return pc_record_check(p, d, n->data, error);
}

int pc_profile_check(const struct pc_profile *p, struct pc_error *error)
{
    int err = check_ranks(p, error);
    if (!err)
        err = check_tables(p, error);
    if (!err)
        err = check_nodes(p, error);
    for (uint32_t i = 0; !err && !p->packed && i < p->n_nodes; i++)
        if (p->nodes[i].data != PC_NO_INDEX)
            err = check_data(p, &p->nodes[i], error);
    return err ? err : pc_tables_check(p, error);
}
