/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of `pcollect topology`: text, tab-separated values, JSON.
 */
#include "view/topology_print.h"

#include "view/sentence.h"
#include "view/table.h"

#include <stdarg.h>
#include <stdlib.h>

static const char *const reach_names[PCT_N_REACHES] = {
    [PCT_REACH_SELF] = "to itself",          [PCT_REACH_SOCKET] = "within a socket",
    [PCT_REACH_SOCKETS] = "between sockets", [PCT_REACH_NODE] = "within a node",
    [PCT_REACH_BETWEEN] = "between nodes",   [PCT_REACH_OUTSIDE] = "outside of the job",
};

static const char *const reach_keys[PCT_N_REACHES] = {
    [PCT_REACH_SELF] = "self",
    [PCT_REACH_SOCKET] = "socket",
    [PCT_REACH_SOCKETS] = "between_sockets",
    [PCT_REACH_NODE] = "node",
    [PCT_REACH_BETWEEN] = "between",
    [PCT_REACH_OUTSIDE] = "outside",
};

static void put_rank(FILE *out, int32_t rank)
{
    if (rank < 0)
        fputs("outside", out);
    else
        fprintf(out, "%d", rank);
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* A column of a table, below 0: it begins on the left. A cell may be wider if its text is. */
struct column {
    const char *head;
    int cells;
};

/* A table that leaves out its last columns if it has no room for them. */
struct columns {
    const struct column *list;
    size_t n, shown;
    size_t width; /* of all of them */
};

static struct columns fit_columns(const struct column *list, size_t n, size_t width)
{
    struct columns c = {.list = list, .n = n, .width = 1};
    for (size_t i = 0; i < n; i++) {
        c.width += 1 + (size_t)abs(list[i].cells);
        c.shown += !width || c.width <= width;
    }
    c.shown = c.shown ? c.shown : 1;
    return c;
}

static void put_cells(FILE *out, const struct columns *c, const char *const *cells)
{
    fputc(' ', out);
    for (size_t i = 0; i < c->shown; i++)
        fprintf(out, " %*s", c->list[i].cells, cells ? cells[i] : c->list[i].head);
    fputc('\n', out);
}

static void put_columns_left_out(FILE *out, const struct columns *c, size_t width)
{
    struct pct_buf names = {0};
    for (size_t i = c->shown; i < c->n; i++)
        if (*c->list[i].head)
            pct_buf_format(&names, "%s%s", names.n ? ", " : "", c->list[i].head);
    if (names.n)
        pct_print_sentence(out, width, 2, "  (left out at this width: %s; --width %zu shows all)",
                           names.data, c->width);
    pct_buf_free(&names);
}

static const struct column sum_columns[] = {
    {"", -20}, {"pairs", 10}, {"messages", 16}, {"bytes", 14}, {"of bytes", 9}};

static void put_sums(FILE *out, const struct pct_topology_view *v)
{
    struct pct_reach_sum sums[PCT_N_REACHES];
    struct columns columns = fit_columns(sum_columns, PC_ARRAY_LEN(sum_columns), v->width);
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES], share[PCT_NUMBER_BYTES],
        pairs[PCT_NUMBER_BYTES];
    pc_u128 all = 0;
    pct_topology_sums(v->topology, sums);
    for (int i = 0; i < PCT_N_REACHES; i++)
        all += sums[i].bytes;
    fputs("\nHow far messages go\n", out);
    put_cells(out, &columns, NULL);
    for (int i = 0; i < PCT_N_REACHES; i++) {
        const char *name = reach_names[i];
        if (i == PCT_REACH_NODE && v->topology->has_sockets)
            name = "sockets not known";
        const char *const cells[PC_ARRAY_LEN(sum_columns)] = {
            name, pct_text_count(pairs, sums[i].pairs), pct_text_count(messages, sums[i].messages),
            pct_text_bytes(bytes, sums[i].bytes),
            pct_text_percent_1(share, pct_text_share(sums[i].bytes, all))};
        if (sums[i].pairs)
            put_cells(out, &columns, cells);
    }
    put_columns_left_out(out, &columns, v->width);
}

static int compare_bytes(const void *a, const void *b)
{
    const struct pct_pair *x = *(const struct pct_pair *const *)a,
                          *y = *(const struct pct_pair *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->messages != y->messages)
        return x->messages > y->messages ? -1 : 1;
    return (x > y) - (x < y);
}

/* The time of one side of a pair. Requests may take all of it, in calls that wait for them. */
static const char *side_time(char out[PCT_NUMBER_BYTES], uint64_t ns)
{
    return ns ? pct_text_time(out, ns) : "-";
}

enum { SENDING = 5 }; /* the first column of times */
static const struct column pair_columns[] = {{"from", 7},      {"to", 7},    {"messages", 12},
                                             {"bytes", 12},    {"mean", 12}, {"sending", 11},
                                             {"receiving", 11}};

static void put_pair(FILE *out, const struct columns *columns, const struct pct_pair *p)
{
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES], mean[PCT_NUMBER_BYTES],
        time[PCT_NUMBER_BYTES], wait[PCT_NUMBER_BYTES];
    char from[16], to[16];
    uint64_t n = p->messages;
    pc_format(from, sizeof from, "%d", p->source);
    pc_format(to, sizeof to, "%d", p->destination);
    const char *const cells[PC_ARRAY_LEN(pair_columns)] = {
        p->source < 0 ? "outside" : from,
        p->destination < 0 ? "outside" : to,
        pct_text_count(messages, p->messages),
        pct_text_bytes(bytes, p->bytes),
        pct_text_bytes(mean, n ? (p->bytes + (pc_u128)n / 2) / n : 0),
        side_time(time, p->time_ns),
        side_time(wait, p->receive_ns)};
    put_cells(out, columns, cells);
}

/* Number of pairs with messages that were sent and not received, or received in a way that is not
 * measured. A message may be received in a later phase, and by a rank without a partner's row. */
static uint64_t count_unequal(const struct pct_topology *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_pairs && !t->one_phase && !t->n_distances; i++)
        if (!pct_topology_is_missing(t, t->pairs[i].source) &&
            !pct_topology_is_missing(t, t->pairs[i].destination))
            n += t->pairs[i].messages != t->pairs[i].received ||
                 t->pairs[i].bytes != t->pairs[i].received_bytes;
    return n;
}

static void put_pairs(FILE *out, const struct pct_topology_view *v)
{
    const struct pct_topology *t = v->topology;
    const struct pct_pair **sorted = pct_alloc(t->n_pairs, sizeof *sorted);
    for (size_t i = 0; i < t->n_pairs; i++)
        sorted[i] = &t->pairs[i];
    qsort(sorted, t->n_pairs, sizeof *sorted, compare_bytes);
    size_t n = t->n_pairs < v->top ? t->n_pairs : v->top;
    char shown[PCT_NUMBER_BYTES], all[PCT_NUMBER_BYTES];
    fprintf(out, "\nPairs with the most bytes (%s of %s)\n", pct_text_count(shown, n),
            pct_text_count(all, t->n_pairs));
    struct columns columns = fit_columns(pair_columns, PC_ARRAY_LEN(pair_columns), v->width);
    put_cells(out, &columns, NULL);
    for (size_t i = 0; i < n; i++)
        put_pair(out, &columns, sorted[i]);
    pct_free(sorted);
    put_columns_left_out(out, &columns, v->width);
    if (columns.shown > SENDING) {
        pct_print_sentence(out, v->width, 2,
                           "  sending, receiving: time in calls that do it, without waits for "
                           "requests in other calls; MPI_Sendrecv counts as receiving, without a "
                           "source as sending");
        if (t->rounded)
            pct_print_sentence(out, v->width, 2,
                               "  Times are rounded to within 0.8 %% of what was measured.");
    }
    uint64_t unequal = count_unequal(t);
    if (unequal)
        pct_print_sentence(out, v->width, 2,
                           "  %s %s: what was sent is not what was received (not received, "
                           "cancelled, of a size never learnt, or received while collection was "
                           "off)",
                           pct_text_count(all, unequal), unequal == 1 ? "pair" : "pairs");
}

static const struct column distance_columns[] = {
    {"ranks apart", -20}, {"", 10}, {"messages", 16}, {"bytes", 14}, {"of bytes", 9}};

/* Remarks on what is missing in the pairs, and so in the pattern and in the placement. */
static void put_distances(FILE *out, const struct pct_topology_view *v)
{
    const struct pct_topology *t = v->topology;
    struct columns columns =
        fit_columns(distance_columns, PC_ARRAY_LEN(distance_columns), v->width);
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES], share[PCT_NUMBER_BYTES], range[48];
    pc_u128 kept = 0, summed = 0;
    for (size_t i = 0; i < t->n_pairs; i++)
        kept += t->pairs[i].bytes;
    for (size_t i = 0; i < t->n_distances; i++)
        summed += t->distances[i].bytes;
    if (!t->n_distances)
        return;
    fputs("\nMessages of other pairs, by distance in ranks\n", out);
    pct_print_sentence(out, v->width, 2,
                       "  A rank keeps the pairs with its first partners only. %s of all bytes are "
                       "of other pairs. They are not in the pattern and not in the placement.",
                       pct_text_percent_1(share, pct_text_share(summed, kept + summed)));
    put_cells(out, &columns, NULL);
    for (size_t i = 0; i < t->n_distances; i++) {
        const struct pct_distance *d = &t->distances[i];
        pct_text_format(range, sizeof range, d->least > 1 ? "%s to %s" : "%s",
                        pct_text_count(messages, d->least),
                        pct_text_count(bytes, 2 * (pc_u128)d->least - 1));
        const char *const cells[PC_ARRAY_LEN(distance_columns)] = {
            range, "", pct_text_count(messages, d->messages), pct_text_bytes(bytes, d->bytes),
            pct_text_percent_1(share, pct_text_share(d->bytes, kept + summed))};
        put_cells(out, &columns, cells);
    }
    put_columns_left_out(out, &columns, v->width);
}

/* Prints "1.2 MB instead of 3.0 MB between nodes, 60.0 % less". */
static void put_change(FILE *out, const char *where, pc_u128 before, pc_u128 after)
{
    char was[PCT_NUMBER_BYTES], is[PCT_NUMBER_BYTES], share[PCT_NUMBER_BYTES];
    fprintf(out, "%s instead of %s between %s", pct_text_bytes(is, after),
            pct_text_bytes(was, before), where);
    if (after < before)
        fprintf(out, ", %s less",
                pct_text_percent_1(share, pct_text_share(before - after, before)));
    fputs("\n", out);
}

static bool is_better(const struct pct_placement *p)
{
    return p->after < p->before || (p->after == p->before && p->sockets_after < p->sockets_before);
}

static void put_placement(FILE *out, const struct pct_topology_view *v)
{
    char nodes[PCT_NUMBER_BYTES], sockets[PCT_NUMBER_BYTES];
    const struct pct_placement *p = v->placement;
    const struct pct_slots *s = v->slots;
    if (!p || (s->n_nodes < 2 && !s->has_choice))
        return;
    fprintf(out, "\nPlacement on %s node%s", pct_text_count(nodes, s->n_nodes),
            s->n_nodes == 1 ? "" : "s");
    if (s->has_choice)
        fprintf(out, " and their %s sockets", pct_text_count(sockets, s->n_sockets));
    fputs("\n", out);
    if (!is_better(p)) {
        fprintf(out, "  no better one was found: %s go between nodes",
                pct_text_bytes(nodes, p->before));
        if (s->has_choice)
            fprintf(out, ", %s between sockets", pct_text_bytes(sockets, p->sockets_before));
        fputs("\n", out);
        return;
    }
    fputs("  a better one: ", out);
    if (s->n_nodes > 1)
        put_change(out, "nodes", p->before, p->after);
    if (s->n_nodes > 1 && s->has_choice)
        fputs("                ", out);
    if (s->has_choice)
        put_change(out, "sockets", p->sockets_before, p->sockets_after);
    fputs("  --rankfile FILE writes it for Open MPI", out);
    fputs(s->n_nodes > 1 ? ", --hosts FILE for MPICH\n" : "\n", out);
}

/* Prints a line of the head, and folds it below its text. */
static void __attribute__((format(printf, 4, 5)))
put_item(FILE *out, const struct pct_topology_view *v, const char *name, const char *format, ...)
{
    enum { INDENT = 15 };
    struct pct_buf text = {0};
    va_list args;
    va_start(args, format);
    pct_buf_vformat(&text, format, args);
    va_end(args);
    fprintf(out, "  %-*s", INDENT - 2, name);
    pct_print_sentence(out, v->width, INDENT, "%s", text.data);
    pct_buf_free(&text);
}

/* Prints how many ranks there are, how many of them take part, and how many are missing. */
static void put_ranks(FILE *out, const struct pct_topology_view *v)
{
    const struct pct_topology *t = v->topology;
    char ranks[PCT_NUMBER_BYTES], nodes[PCT_NUMBER_BYTES], active[PCT_NUMBER_BYTES];
    fprintf(out, "  ranks        %s on %s node%s", pct_text_count(ranks, t->n_ranks),
            pct_text_count(nodes, t->n_nodes), t->n_nodes == 1 ? "" : "s");
    if (!t->are_uncounted && v->pattern->n_active)
        fprintf(out, "; %s%s take part", pct_text_count(active, v->pattern->n_active),
                t->n_missing && v->pattern->n_active < t->n_ranks ? " or more" : "");
    fputc('\n', out);
    if (t->n_missing)
        put_item(out, v, "missing",
                 "%s of them: not in this profile. Messages between them are not known, their "
                 "nodes are assumed to be those of the ranks before them, and no placement is "
                 "proposed",
                 pct_text_count(ranks, t->n_missing));
}

/* Prints the pattern, and what is not in it because the MPI library chooses its messages. */
static void put_pattern(FILE *out, const struct pct_topology_view *v)
{
    const struct pct_collected *c = &v->topology->collected;
    struct pct_buf pattern = {0};
    char explained[PCT_NUMBER_BYTES], calls[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES],
        time[PCT_NUMBER_BYTES];
    pct_pattern_text(v->pattern, &pattern);
    put_item(out, v, "pattern", "%s", pattern.data);
    if (v->pattern->kind != PCT_PATTERN_NONE && v->pattern->kind != PCT_PATTERN_UNKNOWN)
        put_item(out, v, "", "%s of the %s to other ranks are along it",
                 pct_text_percent_1(explained, v->pattern->explained),
                 v->graph->by_bytes ? "bytes in messages" : "messages");
    if (c->calls) {
        put_item(out, v, "left out", "collective operations: %s call%s, %s, %s",
                 pct_text_count(calls, c->calls), c->calls == 1 ? "" : "s",
                 pct_text_bytes(bytes, c->bytes), pct_text_time(time, c->ns));
        put_item(out, v, "", "(pcollect report --table collectives)");
    }
    pct_buf_free(&pattern);
}

void pct_topology_print_text(FILE *out, const struct pct_topology_view *v)
{
    struct pct_buf file = {0};
    pct_text_escape(&file, v->file, PCT_ESCAPE_CELL);
    fprintf(out, "pcollect topology %s\n\n", file.data);
    put_ranks(out, v);
    put_pattern(out, v);
    if (v->topology->n_pairs) {
        put_sums(out, v);
        put_pairs(out, v);
    }
    put_distances(out, v);
    put_placement(out, v);
    pct_buf_free(&file);
}

void pct_topology_print_tsv(FILE *out, const struct pct_topology_view *v)
{
    fputs("source\tdestination\tmessages\tbytes\n", out);
    for (size_t i = 0; i < v->topology->n_pairs; i++) {
        const struct pct_pair *p = &v->topology->pairs[i];
        put_rank(out, p->source);
        fputc('\t', out);
        put_rank(out, p->destination);
        fprintf(out, "\t%llu\t%llu\n", (unsigned long long)p->messages,
                (unsigned long long)p->bytes);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_pattern(FILE *out, const struct pct_pattern *p)
{
    char explained[PCT_NUMBER_BYTES];
    fprintf(out, "  \"pattern\": {\"kind\": \"%s\", \"ranks\": ", pct_pattern_name(p->kind));
    if (p->are_uncounted)
        fputs("null", out);
    else
        fprintf(out, "%u", p->n_active);
    fprintf(out, ", \"explained_percent\": %s",
            p->kind == PCT_PATTERN_UNKNOWN ? "null" : pct_text_percent(explained, p->explained));
    if (p->n_dims) {
        fputs(", \"extents\": [", out);
        for (unsigned k = 0; k < p->n_dims; k++)
            fprintf(out, "%s%u", k ? ", " : "", p->extents[k]);
        fputs("], \"periodic\": [", out);
        for (unsigned k = 0; k < p->n_dims; k++)
            fprintf(out, "%s%s", k ? ", " : "",
                    !pct_pattern_knows_period(p, k) ? "null"
                    : p->periodic[k]                ? "true"
                                                    : "false");
        fprintf(out, "], \"diagonals\": %s, \"rank_order\": %s", p->reach > 1 ? "true" : "false",
                p->reordered ? "false" : "true");
    }
    if (p->kind == PCT_PATTERN_MASTER)
        fprintf(out, ", \"master\": %u", p->master);
    if (p->kind == PCT_PATTERN_ALL_PAIRS)
        fprintf(out, ", \"pairs\": %zu, \"one_way_pairs\": %zu", p->n_pairs, p->n_one_way);
    fputs("},\n", out);
}

static void json_places(FILE *out, const struct pct_topology *t)
{
    fputs("  \"nodes\": [", out);
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        fputs(i ? ", " : "", out);
        pct_json_put(out, t->nodes[i]);
    }
    fputs("],\n  \"places\": [", out);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        fprintf(out, "%s\n    {\"rank\": %u, \"node\": %u, \"socket\": ", r ? "," : "", r,
                t->places[r].node);
        if (t->places[r].socket < 0)
            fputs("null", out);
        else
            fprintf(out, "%u", t->sockets[t->places[r].socket].number);
        fputs(", \"cores\": ", out);
        pct_json_put(out, t->places[r].cores);
        fputc('}', out);
    }
    fputs("],\n", out);
}

static void json_sums(FILE *out, const struct pct_topology *t)
{
    struct pct_reach_sum sums[PCT_N_REACHES];
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES];
    pct_topology_sums(t, sums);
    fputs("  \"reach\": {", out);
    for (int i = 0; i < PCT_N_REACHES; i++)
        fprintf(out, "%s\"%s\": {\"pairs\": %llu, \"messages\": %s, \"bytes\": %s}", i ? ", " : "",
                reach_keys[i], (unsigned long long)sums[i].pairs,
                pct_text_u128(messages, sums[i].messages), pct_text_u128(bytes, sums[i].bytes));
    fputs("},\n", out);
}

void pct_placement_json(struct pct_buf *b, const struct pct_placement *p, const struct pct_slots *s,
                        bool names)
{
    char before[PCT_NUMBER_BYTES], after[PCT_NUMBER_BYTES];
    if (!p || (s->n_nodes < 2 && !s->has_choice)) {
        pct_buf_text(b, "null");
        return;
    }
    pct_buf_format(b, "{\"before\": %s, \"after\": %s, ", pct_text_u128(before, p->before),
                   pct_text_u128(after, p->after));
    for (uint32_t n = 0; names && n < s->n_nodes; n++) {
        pct_buf_text(b, n ? ", " : "\"nodes\": [");
        pct_text_json(b, s->nodes[n]);
        pct_buf_text(b, n + 1 < s->n_nodes ? "" : "], ");
    }
    pct_buf_text(b, "\"node_of_rank\": [");
    for (uint32_t r = 0; r < s->n_ranks; r++)
        pct_buf_format(b, "%s%u", r ? ", " : "", p->node[r]);
    pct_buf_format(b, "], \"sockets_before\": %s, \"sockets_after\": %s, \"socket_of_rank\": [",
                   pct_text_u128(before, p->sockets_before),
                   pct_text_u128(after, p->sockets_after));
    for (uint32_t r = 0; r < s->n_ranks; r++)
        if (p->socket[r] == PC_NO_INDEX)
            pct_buf_text(b, r ? ", null" : "null");
        else
            pct_buf_format(b, "%s%u", r ? ", " : "", s->numbers[p->socket[r]]);
    pct_buf_text(b, "]}");
}

void pct_topology_print_json(FILE *out, const struct pct_topology_view *v)
{
    const struct pct_topology *t = v->topology;
    char time[PCT_NUMBER_BYTES], receive[PCT_NUMBER_BYTES];
    fprintf(out, "{\n  \"pcollect_topology\": 1,\n  \"ranks\": %u,\n  \"missing_ranks\": %u,\n",
            t->n_ranks, t->n_missing);
    json_pattern(out, v->pattern);
    json_places(out, t);
    json_sums(out, t);
    fprintf(out, "  \"collectives\": {\"calls\": %s, \"bytes\": %s, ",
            pct_text_u128(time, t->collected.calls), pct_text_u128(receive, t->collected.bytes));
    fprintf(out, "\"time\": %s},\n", pct_text_seconds(time, t->collected.ns));
    struct pct_buf placement = {0};
    pct_placement_json(&placement, v->placement, v->slots, false);
    fprintf(out, "  \"placement\": %s,\n  \"distances\": [", placement.data);
    pct_buf_free(&placement);
    for (size_t i = 0; i < t->n_distances; i++)
        fprintf(out, "%s{\"least\": %llu, \"messages\": %s, \"bytes\": %s}", i ? ", " : "",
                (unsigned long long)t->distances[i].least,
                pct_text_u128(time, t->distances[i].messages),
                pct_text_u128(receive, t->distances[i].bytes));
    fputs("],\n  \"pairs\": [", out);
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct pct_pair *p = &t->pairs[i];
        fprintf(
            out,
            "%s\n    {\"source\": %d, \"destination\": %d, \"messages\": %llu, \"bytes\": %llu, "
            "\"received\": %llu, \"received_bytes\": %llu, \"time\": %s, \"receive_time\": %s}",
            i ? "," : "", p->source, p->destination, (unsigned long long)p->messages,
            (unsigned long long)p->bytes, (unsigned long long)p->received,
            (unsigned long long)p->received_bytes, pct_text_seconds(time, p->time_ns),
            pct_text_seconds(receive, p->receive_ns));
    }
    fputs("]\n}\n", out);
}

/* ---- For launchers --------------------------------------------------------------------------- */

/* Writes a rankfile. A rank may run on its whole socket; if sockets are not known, slots of a node
 * are assigned in the order of ranks. */
void pct_placement_rankfile(FILE *out, const struct pct_placement *p, const struct pct_slots *s)
{
    uint32_t *slots = pct_alloc(s->n_nodes, sizeof *slots);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        uint32_t node = p->node[r];
        if (s->first_socket[node + 1] - s->first_socket[node] > 1)
            fprintf(out, "rank %u=%s slot=%u:*\n", r, s->nodes[node], s->numbers[p->socket[r]]);
        else
            fprintf(out, "rank %u=%s slot=%u\n", r, s->nodes[node], slots[node]++);
    }
    pct_free(slots);
}

/* Writes a host list. Hydra assigns ranks line by line. */
void pct_placement_hosts(FILE *out, const struct pct_placement *p, const struct pct_slots *s)
{
    for (uint32_t r = 0; r < s->n_ranks;) {
        uint32_t end = r;
        while (end < s->n_ranks && p->node[end] == p->node[r])
            end++;
        fprintf(out, "%s:%u\n", s->nodes[p->node[r]], end - r);
        r = end;
    }
}
