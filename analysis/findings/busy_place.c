/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the function in which the busiest rank has more CPU time outside MPI than the others, by
 * samples. Functions of libraries count for the function of the program that called them,
 * unless the program has no names.
 *
 * A function in which few samples of that rank were taken is no place: two of them can be chance.
 * If many were taken before MPI_Init, which is no part of the rank's time, there is none either.
 *
 * Data structure: a list of the program's functions, each with its share of the lead, its inclusive
 * time, and its distance from the root; by node of the profile, the functions of its frames. Each
 * sampled instruction is added on the way to the root: in a deep recursion these are millions of
 * steps, so no text is made there. For the rules of ranks.
 */
#include "analysis/findings/findings.h"
#include "analysis/symbols/vdso.h"
#include "analysis/tree/keys.h"
#include "analysis/tree/samples.h"

#include <math.h>
#include <string.h>

/* A function with this part of the lead is its only origin, not one of several. */
#define MOST 0.75
/* Part of the lead from which samples in system calls are more than chance. */
#define SOME 0.1
/* Part of the rank's time by samples from which more of it than it has since MPI_Init is no
 * rounding of the values by rank. */
#define MORE 0.02
/* A function with this part of the rank's time is the whole program. */
#define ALL 0.98
/* Ratio above which parts of a function's time count as equal, because samples scatter. */
#define ALIKE 0.9
/* Room for the frames that are inlined at one address. */
enum { INLINED = 256 };

struct function {
    struct pct_frame frame;
    double own, total;    /* ns of the lead: as nearest function of the program; all below */
    double most;          /* most time of one instruction, which gives the line */
    double busiest_ns;    /* of the busiest rank, in it and below */
    double samples;       /* of the busiest rank, in it and below */
    uint32_t depth, seen; /* from the root; the instruction that was added last */
};

/* A frame with the number of its function; PC_NO_INDEX: it has no name. */
struct spot {
    uint32_t function, line;
};

/* The spots of a node, from the innermost outwards; 1 + the first: 0 if they are not found yet. */
struct spots {
    uint32_t first, n;
};

struct search {
    const struct pct_evidence *evidence;
    uint32_t *depth;     /* by node: nodes above it */
    struct spots *spots; /* by node */
    struct spot *all_spots;
    size_t n_spots, spots_room;
    struct function *list;
    size_t n, room;
    struct pct_keys keys;
    double all, calls; /* the lead; part of it in functions that make a system call */
    double vdso;       /* part of it in the kernel's functions, which make some */
    double busiest_ns; /* of the busiest rank */
    const char *call;
    double call_most;
};

/* True for a frame of the program; with `any` also of libraries, except those of MPI and of
 * threads. */
static bool is_counted(const struct pc_profile *p, const struct pc_profile_node *n, bool any)
{
    const struct pc_profile_module *m = n->module == PC_NO_INDEX ? NULL : &p->modules[n->module];
    return (n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT) && m &&
           (pct_symbols_is_program(m) || (any && !(m->flags & ~PCOLLECT_MODULE_LIBC)));
}

static struct pct_place find_place(const struct pct_evidence *f, const struct pc_profile_node *n)
{
    return pct_symbols_find(f->data->symbols, n->module,
                            n->offset + (n->kind == PCOLLECT_NODE_POINT));
}

static uint32_t find_function(struct search *s, const struct pct_frame *frame)
{
    bool is_new;
    struct pct_buf text = {0};
    pct_buf_format(&text, "%s\n%s", frame->function, frame->file ? pct_frame_home(frame) : "");
    uint32_t i = pct_keys_find(&s->keys, pct_pool_intern(s->evidence->pool, text.data), &is_new);
    pct_buf_free(&text);
    if (is_new) {
        s->list = pct_grow(s->list, s->n, &s->room, sizeof *s->list);
        s->list[s->n++] = (struct function){.frame = *frame, .depth = UINT32_MAX};
    }
    return i;
}

/* Finds the functions of a node, except those of threading runtimes. */
static struct spots find_spots(struct search *s, uint32_t node)
{
    struct spots *spots = &s->spots[node];
    if (spots->first)
        return *spots;
    struct pct_place place = find_place(s->evidence, &s->evidence->data->profile->nodes[node]);
    spots->first = (uint32_t)s->n_spots + 1;
    for (uint32_t k = place.n_frames; k-- > 0;) {
        const struct pct_frame *frame = &place.frames[k];
        uint32_t depth = INLINED * s->depth[node] + k, i = PC_NO_INDEX;
        if (pct_symbols_runtime(frame->file))
            continue;
        if (pct_frame_has_symbol(frame)) {
            i = find_function(s, frame);
            s->list[i].depth = depth < s->list[i].depth ? depth : s->list[i].depth;
        }
        s->all_spots = pct_grow(s->all_spots, s->n_spots, &s->spots_room, sizeof *s->all_spots);
        s->all_spots[s->n_spots++] = (struct spot){i, frame->line};
        spots->n++;
    }
    return *spots;
}

/* Part of the lead that an instruction has, and the busiest rank's own time and samples. */
struct part {
    uint32_t node;
    double lead, own, samples;
};

/* The value of the busiest rank in a field of the instruction, and its excess over the mean of the
 * others. */
static struct part find_part(const struct pct_evidence *f, uint32_t node, uint32_t field,
                             uint32_t samples)
{
    const struct pc_profile *p = f->data->profile;
    struct pc_by_rank by = pc_data_by_rank(p, &p->data[p->nodes[node].data], field);
    struct part part = {.node = node};
    double others = 0;
    for (uint32_t i = 0; i < by.n; i++) {
        double value = (double)pc_by_rank_value(&by, i);
        if (by.ranks[i] == p->ranks[f->times->busiest].rank)
            part.own = value;
        else
            others += value;
    }
    part.lead = part.own - others / (double)(f->n_ranks - 1);
    struct pc_stat all = pc_data_stat(p, &p->data[p->nodes[node].data], field);
    if (by.steps && all.sum) /* samples are in proportion to times */
        part.samples = part.own / (double)all.sum *
                       (double)pc_data_sum(p, &p->data[p->nodes[node].data], samples);
    by = pc_data_by_rank(p, &p->data[p->nodes[node].data], samples);
    for (uint32_t i = 0; i < by.n; i++)
        if (by.ranks[i] == p->ranks[f->times->busiest].rank)
            part.samples = (double)pc_by_rank_value(&by, i);
    return part;
}

static void add_to_function(struct search *s, const struct spot *spot, const struct part *part,
                            bool nearest)
{
    struct function *to = &s->list[spot->function];
    if (part->lead > to->most) {
        to->most = part->lead;
        to->frame.line = spot->line;
    }
    to->own += nearest ? part->lead : 0;
    if (to->seen == part->node + 1)
        return;
    to->seen = part->node + 1;
    to->total += part->lead;
    to->busiest_ns += part->own;
    to->samples += part->samples;
}

/* Adds the part to its functions; false if none has a name. */
static bool add_frames(struct search *s, const struct part *part, bool any)
{
    const struct pc_profile *p = s->evidence->data->profile;
    bool nearest = true, named = false;
    for (uint32_t up = part->node; up != PC_NO_INDEX; up = p->nodes[up].parent) {
        if (!is_counted(p, &p->nodes[up], any))
            continue;
        struct spots spots = find_spots(s, up);
        for (uint32_t i = 0; i < spots.n; i++, nearest = false) {
            const struct spot *spot = &s->all_spots[spots.first - 1 + i];
            if (spot->function == PC_NO_INDEX)
                continue;
            add_to_function(s, spot, part, nearest);
            named = true;
        }
    }
    return named;
}

/* Adds the part to the functions of the program, or to those of libraries if it has no names: it
 * may be a main function around a library. */
static void add_part(struct search *s, const struct part *part)
{
    if (!add_frames(s, part, false))
        add_frames(s, part, true);
}

/* True in the functions that the kernel gives to each process: they read clocks, some of these by
 * a system call. They may have no names. */
static bool is_vdso(const struct pc_profile *p, const struct pc_profile_node *n)
{
    return n->module != PC_NO_INDEX && !strcmp(p->modules[n->module].path, PCT_VDSO);
}

static void add_call(struct search *s, const struct part *part)
{
    const struct pc_profile *p = s->evidence->data->profile;
    const struct pc_profile_node *n = &p->nodes[part->node];
    struct pct_place place = find_place(s->evidence, n);
    const char *function = place.frames[place.n_frames - 1].function;
    const char *call = function ? pct_finding_system_call(function) : NULL;
    s->all += part->lead;
    s->busiest_ns += part->own;
    s->calls += call ? part->lead : 0;
    s->vdso += is_vdso(p, n) ? part->lead : 0;
    if (call && part->lead > s->call_most) {
        s->call_most = part->lead;
        s->call = call;
    }
}

/* The part of a function's time that is the lead, if it has most of the lead; else 0. Functions in
 * which the rank spends all its time, like main, are left out. */
static double concentration(const struct search *s, const struct function *f)
{
    bool has =
        f->busiest_ns > 0 && f->busiest_ns < ALL * s->busiest_ns && f->total >= MOST * s->all;
    return has ? f->total / f->busiest_ns : 0;
}

/* Chooses, among the functions that have most of the lead, those in which the lead is the greatest
 * part of their time, and of these the innermost. If no function has most of the lead, chooses the
 * one with most of it in its own code. */
static const struct function *choose(const struct search *s)
{
    const struct function *inner = NULL, *most = NULL;
    double greatest = 0;
    for (size_t i = 0; i < s->n; i++)
        greatest = fmax(greatest, concentration(s, &s->list[i]));
    for (size_t i = 0; i < s->n; i++) {
        const struct function *f = &s->list[i];
        if (greatest > 0 && concentration(s, f) >= ALIKE * greatest &&
            (!inner || f->depth > inner->depth))
            inner = f;
        if (f->own > 0 && (!most || f->own > most->own))
            most = f;
    }
    return inner ? inner : most;
}

/* True if so much of the busiest rank's time was sampled before MPI_Init that its lead may be of
 * there. A program is sampled from its first call of MPI on. */
static bool may_be_early(const struct search *s)
{
    const struct pct_evidence *f = s->evidence;
    const struct pc_profile *p = f->data->profile;
    double later_ns = pct_samples_from_init_ns(p, &p->ranks[f->times->busiest].rank);
    double early_ns = later_ns < 0 ? 0 : s->busiest_ns - later_ns;
    return early_ns > SOME * s->all && early_ns > MORE * s->busiest_ns;
}

struct pct_busy_place pct_finding_busy_place(const struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    struct search s = {.evidence = f};
    struct pct_busy_place place = {0};
    uint32_t field = pct_samples_field(p, "clock", "time"),
             samples = pct_samples_field(p, "clock", "samples");
    if (field == PC_NO_INDEX || samples == PC_NO_INDEX)
        return place;
    s.depth = pct_alloc(p->n_nodes, sizeof *s.depth);
    s.spots = pct_alloc(p->n_nodes, sizeof *s.spots);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        s.depth[i] = n->parent == PC_NO_INDEX ? 0 : s.depth[n->parent] + 1;
        if (n->kind != PCOLLECT_NODE_POINT || n->data == PC_NO_INDEX ||
            pct_totals_outer(f->data->totals, i) != PC_NO_INDEX)
            continue;
        struct part part = find_part(f, i, field, samples);
        add_part(&s, &part);
        add_call(&s, &part);
    }
    const struct function *chosen = s.all > 0 && !may_be_early(&s) ? choose(&s) : NULL;
    if (chosen && chosen->samples >= PCT_SAMPLES_FEW) {
        place.function = chosen->frame;
        place.call = s.calls > s.all / 2 ? s.call : NULL;
        place.may_call = s.calls + s.vdso > SOME * s.all;
        place.ns = chosen->busiest_ns;
        place.most = chosen->total >= s.all / 2;
    }
    pct_keys_free(&s.keys);
    pct_free(s.list);
    pct_free(s.depth);
    pct_free(s.spots);
    pct_free(s.all_spots);
    return place;
}

/* Number of calls of a context that a rank makes. values and present are 0 before and after. */
static uint64_t calls_of(const struct pct_evidence *f, uint32_t node, size_t rank, uint64_t *values,
                         bool *present)
{
    struct pct_range range =
        pct_tree_ranks(pct_data_tree(f->data), node, PCT_CALLS, values, present);
    uint64_t calls = values[rank];
    for (size_t r = range.first; r < range.end; r++)
        values[r] = present[r] = 0;
    return calls;
}

const char *pct_finding_polling(const struct pct_evidence *f, size_t rank)
{
    uint64_t most = 0, *values = pct_alloc(f->n_ranks, sizeof *values);
    bool *present = pct_alloc(f->n_ranks, sizeof *present);
    uint32_t place = 0;
    struct pct_buf b = {0};
    for (size_t i = 0; i < f->n_polling && !f->bounds; i++) {
        uint64_t calls = calls_of(f, f->polling[i], rank, values, present);
        place = calls > most ? pct_data_tree(f->data)->nodes[f->polling[i]].first_source : place;
        most = calls > most ? calls : most;
    }
    pct_buf_put(&b, "", 0);
    if (most > PCT_MANY_TESTS)
        pct_buf_format(
            &b,
            " Rank %d calls %s %s times or more: what it does between these calls may be "
            "waiting, too.",
            pct_finding_rank(f, rank),
            pct_finding_place(f, pct_totals_call(f->data->profile, place)),
            pct_finding_number(f, (double)most));
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    pct_free(values);
    pct_free(present);
    return text;
}
