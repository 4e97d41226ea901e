/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of calls and samples by keys: see roll_up.h. One pass over the nodes that have a record;
 * each is added to the row of the frame that it belongs to, and once to each row on the way to the
 * root.
 */
#include "analysis/tree/roll_up.h"

#include "analysis/tree/keys.h"
#include "analysis/tree/label.h"

#include <string.h>

/* Figures of one rank in one record: metrics, then these. */
enum { SAMPLES = PCT_N_METRICS, SAMPLED_NS, SQUARES, SHORTEST, LONGEST, N_FIGURES };

struct rank_figures {
    int32_t rank;
    uint64_t figure[N_FIGURES];
};

/* The row of a frame and a set of other keys. */
struct pair {
    uint32_t frame, set, row;
};

struct sums {
    struct pct_rolled *out;
    const struct pct_totals *totals;
    struct pct_symbols *symbols;
    const struct pct_tree *tree;
    unsigned keys;
    struct pct_keys rows, lines;
    size_t room, lines_room;
    /* A recursion has millions of frames above its samples, and few places. So no text is made for
     * a frame twice: by node of the profile, 1 + the first of the numbers of its frames in
     * `place_frames`; 0: not found yet. The row of a frame also depends on the other keys of the
     * part, which are a set. */
    uint32_t *places, *place_frames;
    size_t n_place_frames, place_room;
    struct pct_keys frames, like_sets;
    struct pair *pairs;
    size_t n_pairs, pairs_room;
    struct pct_hash_index pairs_by;
    struct pct_buf text;
    uint32_t stamp;
    struct rank_figures *ranks; /* PCT_KEY_RANK: of one record */
    size_t ranks_room;
    bool in_steps; /* these are times in steps */
    /* Rows of ranks by the other keys, for records of many ranks: by place of the rank 1 + the row;
     * 0: not found yet. */
    struct pct_keys sets;
    uint32_t **set_rows, *rank_rows; /* by set; of the record, or NULL */
    size_t sets_room;
};

/* Figures that one record adds, or its part of one rank. */
struct part {
    uint32_t node, call;     /* `call` is PC_NO_INDEX for samples of computation */
    struct pct_call_sum own; /* of the call */
    struct pct_sampled sampled;
    struct pct_rolled_row like; /* the keys that are not those of a frame */
    uint32_t place;             /* of the rank, if it has one */
    uint32_t set;               /* number of `like` among those of parts with frames */
};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A format for each rank of each record would take a tenth of the time of a page. */
static void put_text(struct sums *s, const char *text)
{
    pct_buf_text(&s->text, text ? text : "");
    pct_buf_text(&s->text, "\n");
}

/* The keys of *like as a text. */
static const char *key_of(struct sums *s, const struct pct_rolled_row *like)
{
    pct_buf_clear(&s->text);
    put_text(s, like->function);
    put_text(s, like->file);
    put_text(s, like->module);
    put_text(s, like->primitive);
    put_text(s, like->library);
    if (s->keys & PCT_KEY_CALLED)
        put_text(s, like->called);
    pct_buf_hex(&s->text, like->line);
    pct_buf_hex(&s->text, like->domain);
    if (s->keys & (PCT_KEY_PHASE | PCT_KEY_REGION | PCT_KEY_RANK | PCT_KEY_CONTEXT)) {
        pct_buf_hex(&s->text, like->phase);
        pct_buf_hex(&s->text, (uint64_t)like->has_rank << 32 | (uint32_t)like->rank);
        pct_buf_hex(&s->text, like->context);
        put_text(s, like->region);
    }
    return pct_pool_intern(s->out->pool, s->text.data);
}

/* Finds the line of a row. */
static uint32_t find_line(struct sums *s, const struct pct_rolled_row *row)
{
    struct pct_rolled_row like = {.file = row->file, .line = row->line};
    if (!like.file)
        like.module = row->module;
    bool is_new;
    uint32_t i = pct_keys_find(&s->lines, key_of(s, &like), &is_new);
    if (is_new) {
        s->out->lines = pct_grow(s->out->lines, i, &s->lines_room, sizeof *s->out->lines);
        s->out->lines[i] = (struct pct_rolled_line){0};
    }
    return i;
}

/* Index of the row with the keys of *like. */
static uint32_t find_index(struct sums *s, const struct pct_rolled_row *like)
{
    bool is_new;
    uint32_t i = pct_keys_find(&s->rows, key_of(s, like), &is_new);
    if (is_new) {
        s->out->row = pct_grow(s->out->row, s->out->n, &s->room, sizeof *s->out->row);
        struct pct_rolled_row *r = &s->out->row[s->out->n++];
        *r = *like;
        r->first_node = PC_NO_INDEX;
        if (s->keys == PCT_BY_LINE)
            r->whole = find_line(s, r);
    }
    return i;
}

static struct pct_rolled_row *find_row(struct sums *s, const struct pct_rolled_row *like)
{
    uint32_t i = find_index(s, like); /* may move the rows */
    return &s->out->row[i];
}

/* The label of a function without a name, as that of the frame; where it begins may be unknown:
 * then only code has one. Lines are not known: of a call, or of code, the offset stands for it. */
static const char *name_place(const struct sums *s, const char *module, const struct pct_frame *f,
                              const struct pc_profile_node *n)
{
    const unsigned code = s->keys & PCT_KEY_CODE, call = s->keys & PCT_KEY_HERE;
    struct pct_buf b = {0};
    if (!code && (!module || !f->begin))
        return NULL;
    if (!module)
        return "(no module)";
    pct_label_nameless(&b, pc_base_name(module), f, n->offset,
                       s->keys & PCT_KEY_LINE && (code || call) ? PCT_LABEL_LINE : 0);
    const char *kept = pct_pool_intern(s->out->pool, b.data);
    pct_buf_free(&b);
    return kept;
}

static struct pct_rolled_row row_of_frame(const struct sums *s, const struct part *part,
                                          const struct pct_frame *f,
                                          const struct pc_profile_node *n)
{
    bool code = s->keys & PCT_KEY_CODE;
    const char *module =
        n->module == PC_NO_INDEX ? NULL : s->totals->profile->modules[n->module].path;
    struct pct_rolled_row r = part->like;
    if (code && module)
        module = pc_base_name(module);
    if (s->keys & PCT_KEY_FILE)
        r.file =
            s->keys & PCT_KEY_FUNCTION && !(s->keys & PCT_KEY_LINE) ? pct_frame_home(f) : f->file;
    if (s->keys & PCT_KEY_FUNCTION)
        r.function = f->function ? f->function : name_place(s, module, f, n);
    if (s->keys & PCT_KEY_LINE)
        r.line = f->line;
    if (s->keys & PCT_KEY_MODULE || !r.file)
        r.module = module;
    return r;
}

/* True if samples in an MPI call are the row's own. In a row of a function that makes the call they
 * are not: MPI is a function that it calls. */
static bool has_samples_of_calls(const struct sums *s)
{
    return !(s->keys & PCT_KEYS_OF_FRAMES) ||
           s->keys & (PCT_KEY_CODE | PCT_KEY_PRIMITIVE | PCT_KEY_COMMUNICATOR);
}

static void add_own(struct sums *s, struct pct_rolled_row *r, const struct part *part)
{
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        r->own.sum[k] += part->own.sum[k];
    uint64_t min = part->own.min_ns;
    if (min && (!r->own.min_ns || min < r->own.min_ns))
        r->own.min_ns = min;
    if (part->own.max_ns > r->own.max_ns)
        r->own.max_ns = part->own.max_ns;
    if (part->call == PC_NO_INDEX || has_samples_of_calls(s))
        pct_sampled_add(&r->self, part->sampled);
    r->in_steps |= part->like.in_steps;
    if (s->keys & PCT_KEY_RANK)
        return;
    s->out->next[part->node] = r->first_node;
    r->first_node = part->node;
}

static void add_to_line(struct sums *s, struct pct_rolled_line *l, const struct part *part)
{
    if (l->seen == s->stamp)
        return;
    l->seen = s->stamp;
    l->below_ns += part->own.sum[PCT_EXCLUSIVE];
    pct_sampled_add(&l->total, part->sampled);
}

/* Adds a part to a row. `own`: the row is that of the frame that called or computed, or of the MPI
 * function. */
static void add_to_row(struct sums *s, struct pct_rolled_row *r, const struct part *part, bool own)
{
    if (own)
        add_own(s, r, part);
    if (r->seen == s->stamp)
        return;
    r->seen = s->stamp;
    r->below_ns += part->own.sum[PCT_EXCLUSIVE];
    pct_sampled_add(&r->total, part->sampled);
    if (s->keys == PCT_BY_LINE)
        add_to_line(s, &s->out->lines[r->whole], part);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static bool is_frame(const struct pc_profile_node *n)
{
    return n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
}

/* The row of frame k of a node of the profile. Frames that a tail call removed belong to the module
 * of the call above. */
static struct pct_rolled_row row_of_node(const struct sums *s, const struct part *part,
                                         uint32_t node, const struct pct_frame *f)
{
    const struct pc_profile *p = s->totals->profile;
    return row_of_frame(s, part, f, &p->nodes[f->tail_call ? p->nodes[node].parent : node]);
}

/* The innermost frame of a node as the place of a call. */
static enum pct_caller caller_at(const struct sums *s, uint32_t node, const struct pct_place *place)
{
    const struct pc_profile *p = s->totals->profile;
    return pct_symbols_caller(p, p->nodes[node].module, &place->frames[place->n_frames - 1]);
}

/* The node of the innermost function of Python, if there are only frames between it and `node`;
 * else PC_NO_INDEX. */
static uint32_t find_python(const struct sums *s, uint32_t node)
{
    const struct pc_profile *p = s->totals->profile;
    for (; node != PC_NO_INDEX && is_frame(&p->nodes[node]); node = p->nodes[node].parent) {
        struct pct_place place = pct_symbols_node(s->symbols, node);
        if (place.n_frames && caller_at(s, node, &place) == PCT_CALLER_PYTHON)
            return node;
    }
    return PC_NO_INDEX;
}

/* The node of the frame that made the call, past those that only pass it on, and its place: without
 * any frame, for example of a call whose frames were cut, it has none. */
static uint32_t find_site(const struct sums *s, uint32_t call, struct pct_place *place)
{
    const struct pc_profile *p = s->totals->profile;
    uint32_t up = call;
    *place = pct_symbols_node(s->symbols, call);
    if (!place->n_frames) {
        do {
            up = p->nodes[up].parent;
        } while (up != PC_NO_INDEX && p->nodes[up].kind != PCOLLECT_NODE_FRAME &&
                 p->nodes[up].kind != PCOLLECT_NODE_OP && p->nodes[up].kind != PCOLLECT_NODE_CUT);
        if (up != PC_NO_INDEX && p->nodes[up].kind == PCOLLECT_NODE_FRAME)
            *place = pct_symbols_node(s->symbols, up);
    }
    if (place->n_frames && caller_at(s, up, place) == PCT_CALLER_PASSES) {
        uint32_t python = find_python(s, up);
        up = python == PC_NO_INDEX ? up : python;
        *place = pct_symbols_node(s->symbols, up);
    }
    return up;
}

/* Adds a call to the row of its site. */
static void add_site(struct sums *s, const struct part *part)
{
    struct pct_rolled_row like = part->like;
    struct pct_place place;
    uint32_t node = find_site(s, part->call, &place);
    if (place.n_frames)
        like = row_of_node(s, part, node, &place.frames[place.n_frames - 1]);
    add_own(s, find_row(s, &like), part);
}

/* Finds the numbers of the frames of a node, from the innermost outwards. */
static void keep_place(struct sums *s, uint32_t node, struct pct_place place)
{
    static const struct part none;
    bool is_new;
    s->places[node] = (uint32_t)s->n_place_frames + 1;
    for (uint32_t k = place.n_frames; k-- > 0;) {
        struct pct_rolled_row like = row_of_node(s, &none, node, &place.frames[k]);
        s->place_frames =
            pct_grow(s->place_frames, s->n_place_frames, &s->place_room, sizeof *s->place_frames);
        s->place_frames[s->n_place_frames++] = pct_keys_find(&s->frames, key_of(s, &like), &is_new);
    }
}

/* Index of the row of a frame of a node, which has this number. */
static uint32_t find_frame(struct sums *s, const struct part *part, uint32_t node, uint32_t number,
                           const struct pct_frame *f)
{
    struct pct_hash_search search = {.hash =
                                         (uint32_t)pc_hash_u64((uint64_t)number << 32 | part->set)};
    uint32_t i;
    while ((i = pct_hash_next(&s->pairs_by, &search)) != PC_NO_INDEX)
        if (s->pairs[i].frame == number && s->pairs[i].set == part->set)
            return s->pairs[i].row;
    struct pct_rolled_row like = row_of_node(s, part, node, f);
    uint32_t row = find_index(s, &like);
    s->pairs = pct_grow(s->pairs, s->n_pairs, &s->pairs_room, sizeof *s->pairs);
    s->pairs[s->n_pairs] = (struct pair){number, part->set, row};
    pct_hash_add(&s->pairs_by, search.hash, (uint32_t)s->n_pairs++);
    return row;
}

static void add_rows_of_place(struct sums *s, const struct part *part, uint32_t node, bool *own)
{
    struct pct_place place = pct_symbols_node(s->symbols, node);
    if (!s->places[node])
        keep_place(s, node, place);
    const uint32_t first = s->places[node] - 1;
    for (uint32_t i = 0; i < place.n_frames; i++, *own = false) {
        const struct pct_frame *f = &place.frames[place.n_frames - 1 - i];
        uint32_t row = find_frame(s, part, node, s->place_frames[first + i], f);
        add_to_row(s, &s->out->row[row], part, *own);
    }
}

/* Adds a part to the rows of its frames, from the innermost outwards; with PCT_KEY_CODE from the
 * MPI function. A part without frames belongs to the row without a place. */
static void add_frames(struct sums *s, struct part *part)
{
    const struct pc_profile *p = s->totals->profile;
    bool code = s->keys & PCT_KEY_CODE, is_new;
    part->set = pct_keys_find(&s->like_sets, key_of(s, &part->like), &is_new);
    s->stamp++;
    uint32_t first = part->call == PC_NO_INDEX ? part->node : part->call, site = PC_NO_INDEX;
    struct pct_place place = {0};
    if (part->call != PC_NO_INDEX && !code)
        site = find_site(s, part->call, &place);
    bool own = !place.n_frames; /* else from the site on */
    for (uint32_t up = first; up != PC_NO_INDEX; up = p->nodes[up].parent) {
        const struct pc_profile_node *n = &p->nodes[up];
        bool op = n->kind == PCOLLECT_NODE_OP;
        if (op && code) {
            struct pct_rolled_row like = part->like;
            like.function = p->ops[n->op].name;
            add_to_row(s, find_row(s, &like), part, own);
        }
        own = own && n->kind != PCOLLECT_NODE_CUT && !(op && (code || up != first));
        own |= place.n_frames && up == site;
        if (op || is_frame(n))
            add_rows_of_place(s, part, up, &own);
    }
}

/* True for a frame of the program; false for the import of Python, though it is in a program. */
static bool is_frame_of_program(const struct sums *s, uint32_t node)
{
    const struct pc_profile *p = s->totals->profile;
    uint32_t module = p->nodes[node].module;
    if (module == PC_NO_INDEX || !pct_symbols_is_program(&p->modules[module]))
        return false;
    struct pct_place place = pct_symbols_node(s->symbols, node);
    return !place.n_frames || !place.frames[place.n_frames - 1].function ||
           caller_at(s, node, &place) != PCT_CALLER_PASSES;
}

static bool has_name(const struct sums *s, uint32_t node)
{
    struct pct_place place = pct_symbols_node(s->symbols, node);
    return place.n_frames && pct_frame_has_symbol(&place.frames[place.n_frames - 1]);
}

/* The innermost frame of the program from a node outwards, up to an MPI call or the end of a cut
 * stack; the node itself if there is none, or if no symbol names it: then the function of the
 * library says more. */
static uint32_t find_program(const struct sums *s, uint32_t node)
{
    const struct pc_profile *p = s->totals->profile;
    for (uint32_t up = node; up != PC_NO_INDEX && is_frame(&p->nodes[up]); up = p->nodes[up].parent)
        if (is_frame_of_program(s, up))
            return has_name(s, up) ? up : node;
    return node;
}

/* The frame of a runtime that called libc, for example to yield the processor; else the
 * node itself. */
static uint32_t find_runtime(const struct pc_profile *p, uint32_t node)
{
    for (uint32_t up = node; up != PC_NO_INDEX && is_frame(&p->nodes[up]);
         up = p->nodes[up].parent) {
        uint32_t module = p->nodes[up].module,
                 flags = module == PC_NO_INDEX ? 0 : p->modules[module].flags;
        if (flags & PCOLLECT_MODULE_RUNTIME)
            return up;
        if (!(flags & PCOLLECT_MODULE_LIBC))
            break;
    }
    return node;
}

/* The function of the library of a node that an outer node has called; NULL: it has no name, or the
 * call leads through another library. */
static const char *find_entry(struct sums *s, uint32_t node, uint32_t owner)
{
    const struct pc_profile *p = s->totals->profile;
    uint32_t module = p->nodes[node].module;
    while (p->nodes[node].parent != owner)
        node = p->nodes[node].parent;
    struct pct_place place = pct_symbols_node(s->symbols, node);
    return place.n_frames && p->nodes[node].module == module ? place.frames[0].function : NULL;
}

static void add_to_program(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->totals->profile;
    uint32_t node = find_runtime(p, part->node), owner = find_program(s, node);
    uint32_t module = p->nodes[node].module;
    struct pct_place place = pct_symbols_node(s->symbols, owner);
    struct pct_rolled_row like = part->like;
    if (place.n_frames)
        like = row_of_node(s, part, owner, &place.frames[place.n_frames - 1]);
    if (owner != node && module != PC_NO_INDEX && module != p->nodes[owner].module) {
        like.library = p->modules[module].path;
        like.called = find_entry(s, node, owner);
    }
    struct pct_rolled_row *row = find_row(s, &like);
    if (row->called && (!like.called || strcmp(row->called, like.called) != 0))
        row->called = NULL;
    add_own(s, row, part);
}

/* Number of frames of a place up to the innermost one with a line; 0: there is none. `python`: the
 * lines are those of a program in Python, not of what carries its calls. */
static uint32_t find_lined(const struct pc_profile *p, uint32_t module,
                           const struct pct_place *place, bool python)
{
    uint32_t k = python && pct_symbols_carries_python(p, module) ? 0 : place->n_frames;
    while (k && !(place->frames[k - 1].file && place->frames[k - 1].line))
        k--;
    return k;
}

/* Adds a part in code without lines to the line that called this code: the nearest one outwards, up
 * to an MPI call or the end of a cut stack. */
static void add_called(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->totals->profile;
    struct pct_place place = {0};
    uint32_t first = part->call == PC_NO_INDEX ? part->node : find_site(s, part->call, &place);
    uint32_t called = PC_NO_INDEX;
    const bool python = find_python(s, first) != PC_NO_INDEX;
    for (uint32_t up = first; up != PC_NO_INDEX; called = up, up = p->nodes[up].parent) {
        if (up != (part->call == PC_NO_INDEX ? part->node : part->call) && !is_frame(&p->nodes[up]))
            return;
        place = pct_symbols_node(s->symbols, up);
        uint32_t k = find_lined(p, p->nodes[up].module, &place, python), inner = 0;
        if (!k)
            continue;
        struct pct_rolled_row like = row_of_node(s, part, up, &place.frames[k - 1]);
        if (k < place.n_frames) { /* the function with the line has made a tail call */
            called = up;
            inner = k;
        }
        if (called == PC_NO_INDEX)
            return;
        place = pct_symbols_node(s->symbols, called);
        if (place.n_frames)
            like.called = row_of_node(s, part, called, &place.frames[inner]).function;
        if (p->nodes[called].module != PC_NO_INDEX)
            like.library = p->modules[p->nodes[called].module].path;
        add_own(s, find_row(s, &like), part);
        return;
    }
}

static void add_part(struct sums *s, struct part *part)
{
    if (s->keys & PCT_KEY_PROGRAM) {
        add_to_program(s, part);
        return;
    }
    if (s->keys & PCT_KEY_CALLED) {
        add_called(s, part);
        return;
    }
    if (!(s->keys & PCT_KEYS_OF_FRAMES)) {
        uint32_t unknown = 0,
                 *row = part->like.has_rank && s->rank_rows ? &s->rank_rows[part->place] : &unknown;
        if (!*row)
            *row = find_index(s, &part->like) + 1;
        s->stamp++;
        add_to_row(s, &s->out->row[*row - 1], part, true);
    } else if (s->keys & PCT_KEY_HERE) {
        add_site(s, part);
    } else {
        add_frames(s, part);
    }
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

/* The field of a figure; PC_NO_INDEX: none. */
static uint32_t field_of(const struct sums *s, unsigned figure)
{
    const struct pct_samples *samples = s->out->samples;
    return figure == SAMPLES      ? samples->samples_field
           : figure == SAMPLED_NS ? samples->time_field
           : figure == SQUARES    ? samples->squares_field
           : figure == SHORTEST   ? s->totals->min_field
           : figure == LONGEST    ? s->totals->max_field
                                  : s->totals->field[figure];
}

/* Chooses the rows of ranks for a record that n of them have. */
static void choose_rows(struct sums *s, const struct pct_rolled_row *like, uint32_t n)
{
    bool is_new;
    s->rank_rows = NULL;
    if (!n || s->keys & PCT_KEYS_OF_FRAMES || n < s->totals->profile->n_ranks / 4)
        return;
    uint32_t set = pct_keys_find(&s->sets, key_of(s, like), &is_new);
    if (is_new) {
        s->set_rows = pct_grow(s->set_rows, set, &s->sets_room, sizeof *s->set_rows);
        s->set_rows[set] = pct_alloc(s->totals->profile->n_ranks, sizeof **s->set_rows);
    }
    s->rank_rows = s->set_rows[set];
}

static void begin_ranks(struct sums *s, struct pc_by_rank by)
{
    s->ranks = pct_grow(s->ranks, by.n, &s->ranks_room, sizeof *s->ranks);
    for (uint32_t i = 0; i < by.n; i++)
        s->ranks[i] = (struct rank_figures){.rank = by.ranks[i]};
}

/* Reads the figures of the record by rank, and returns how many ranks have them; 0: they are not
 * known. */
static uint32_t read_ranks(struct sums *s, uint32_t node)
{
    const struct pc_profile *p = s->totals->profile;
    uint32_t n = 0;
    for (unsigned k = 0; k < N_FIGURES && p->nodes[node].data != PC_NO_INDEX; k++) {
        if (field_of(s, k) == PC_NO_INDEX)
            continue;
        struct pc_by_rank by = pc_data_by_rank(p, &p->data[p->nodes[node].data], field_of(s, k));
        if (!n && by.n)
            begin_ranks(s, by);
        s->in_steps = by.n ? by.steps != NULL : s->in_steps;
        n = by.n ? by.n : n;
        for (uint32_t i = 0; i < by.n; i++)
            s->ranks[i].figure[k] = pc_by_rank_value(&by, i);
    }
    return n;
}

/* Sets the part of one rank. The ranks of nested calls are not known: each rank gets its share of
 * their time. */
static void set_rank(const struct sums *s, const struct part *whole, const struct rank_figures *r,
                     struct part *out)
{
    const pc_u128 *sum = whole->own.sum;
    *out = *whole;
    out->like.has_rank = true;
    out->like.rank = r->rank;
    out->own = (struct pct_call_sum){.min_ns = r->figure[SHORTEST], .max_ns = r->figure[LONGEST]};
    for (unsigned k = 0; k < PCT_EXCLUSIVE; k++)
        out->own.sum[k] = r->figure[k];
    if (sum[PCT_TIME])
        out->own.sum[PCT_EXCLUSIVE] = out->own.sum[PCT_TIME] * sum[PCT_EXCLUSIVE] / sum[PCT_TIME];
    out->sampled = pct_samples_made(s->out->samples, r->figure[SAMPLES], r->figure[SAMPLED_NS],
                                    r->figure[SQUARES]);
}

/* A share of samples by their time. */
static struct pct_sampled share_of(struct pct_sampled all, uint64_t ns)
{
    double share = all.ns ? (double)ns / (double)all.ns : 0;
    return (struct pct_sampled){.samples = (uint64_t)((double)all.samples * share + 0.5),
                                .ns = ns,
                                .squares = all.squares * share};
}

/* Sets the part of one rank from its times in steps. The samples of a place are in proportion to
 * its times; those of a call are not known by rank. */
static void set_steps(const struct sums *s, const struct part *whole, const struct rank_figures *r,
                      struct part *out)
{
    set_rank(s, whole, r, out);
    out->like.in_steps = whole->call != PC_NO_INDEX;
    if (!out->like.in_steps)
        out->sampled = share_of(whole->sampled, r->figure[SAMPLED_NS]);
}

static bool has_figures(const struct sums *s, const struct part *part)
{
    return s->in_steps ? part->own.sum[PCT_TIME] || part->sampled.ns
                       : part->own.sum[PCT_CALLS] || part->sampled.samples;
}

/* Adds the parts of n ranks. Those that the profile does not have are of a damaged record. */
static void add_ranks(struct sums *s, const struct part *whole, uint32_t n)
{
    const struct pc_profile *p = s->totals->profile;
    struct part part;
    for (uint32_t i = 0, at = 0; i < n && at < p->n_ranks; i++) {
        uint32_t place = pct_totals_place_of_rank(p, at, s->ranks[i].rank);
        if (place == p->n_ranks)
            continue;
        at = place + 1;
        (s->in_steps ? set_steps : set_rank)(s, whole, &s->ranks[i], &part);
        part.place = place;
        if (has_figures(s, &part))
            add_part(s, &part);
    }
}

/* Adds to the row without a rank what steps do not tell of a call: all but its times. */
static void add_rest(struct sums *s, const struct part *whole)
{
    struct part rest = *whole;
    rest.like.in_steps = true;
    rest.own.sum[PCT_TIME] = rest.own.sum[PCT_EXCLUSIVE] = 0;
    add_part(s, &rest);
}

/* ---- Records --------------------------------------------------------------------------------- */

/* The phase and the region that were open: nodes between the root and the first frame. */
static void find_scopes(const struct sums *s, uint32_t node, struct pct_rolled_row *like)
{
    const struct pc_profile *p = s->totals->profile;
    for (uint32_t up = node; up != PC_NO_INDEX; up = p->nodes[up].parent) {
        const struct pc_profile_node *n = &p->nodes[up];
        if (n->kind == PCOLLECT_NODE_PHASE && s->keys & PCT_KEY_PHASE)
            like->phase = n->offset;
        if (n->kind == PCOLLECT_NODE_REGION && s->keys & PCT_KEY_REGION && !like->region)
            like->region = pc_profile_region(p, n->offset);
    }
}

static void add_record(struct sums *s, uint32_t node)
{
    const struct pc_profile *p = s->totals->profile;
    const struct pc_profile_node *n = &p->nodes[node];
    bool call = n->kind == PCOLLECT_NODE_OP || n->kind == PCOLLECT_NODE_DOMAIN;
    struct part part = {.node = node, .call = PC_NO_INDEX};
    part.sampled = pct_samples_of(s->out->samples, node);
    if (call) {
        part.call = pct_totals_call(p, node);
        pct_totals_add(s->totals, node, &part.own);
        if (s->keys & PCT_KEY_PRIMITIVE)
            part.like.primitive = p->ops[p->nodes[part.call].op].name;
        if (s->keys & PCT_KEY_COMMUNICATOR && n->kind == PCOLLECT_NODE_DOMAIN)
            part.like.domain = n->offset;
    } else if (s->keys & PCT_KEY_HERE) {
        return;
    }
    if (call && s->keys & PCT_KEY_PROGRAM)
        return;
    if (!pct_samples_has(s->out->samples, node) && (!call || s->keys & PCT_KEY_CODE))
        return;
    if (call && n->data == PC_NO_INDEX)
        return;
    if (s->tree)
        part.like.context = s->tree->shown[call ? part.call : node];
    if (s->keys & (PCT_KEY_PHASE | PCT_KEY_REGION))
        find_scopes(s, node, &part.like);
    uint32_t n_ranks = s->keys & PCT_KEY_RANK ? read_ranks(s, node) : 0;
    choose_rows(s, &part.like, n_ranks);
    if (n_ranks)
        add_ranks(s, &part, n_ranks);
    else
        add_part(s, &part);
    if (n_ranks && s->in_steps && call)
        add_rest(s, &part);
}

/* Adds the entries and the time of the program's regions. */
static void add_regions(struct sums *s)
{
    const struct pc_profile *p = s->totals->profile;
    const struct pc_profile_table *t = pc_profile_table(p, "regions");
    uint32_t node = pc_table_column(t, "region", PCOLLECT_COLUMN_NODE);
    uint32_t entered = pc_table_column(t, "entered", PCOLLECT_COLUMN_NUMBER);
    uint32_t time = pc_table_column(t, "time", PCOLLECT_COLUMN_NUMBER);
    if (node == PC_NO_INDEX || entered == PC_NO_INDEX || time == PC_NO_INDEX)
        return;
    for (uint32_t i = 0; i < t->n_rows; i++) {
        uint64_t at = pc_table_cell(t, i, node);
        struct pct_rolled_row like = {0};
        if (at < p->n_nodes && p->nodes[at].kind == PCOLLECT_NODE_REGION)
            find_scopes(s, (uint32_t)at, &like);
        if (!like.region)
            continue;
        struct pct_rolled_row *row = find_row(s, &like);
        row->has_entries = true;
        row->entered += pc_table_cell(t, i, entered);
        row->region_ns += pc_node_is_nested(p->nodes, (uint32_t)at) ? 0 : pc_table_cell(t, i, time);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Adds values by rank. In rows of code, calls without samples do not count. */
struct pct_range pct_rolled_ranks(const struct pct_rolled *r, size_t row, uint64_t *values,
                                  bool *present)
{
    const struct pc_profile *p = r->totals->profile;
    bool code = r->keys & PCT_KEY_CODE;
    uint32_t field = code ? r->samples->time_field : r->totals->field[PCT_TIME];
    struct pct_range all = {0, 0};
    if (field == PC_NO_INDEX)
        return all;
    for (uint32_t i = r->row[row].first_node; i != PC_NO_INDEX; i = r->next[i]) {
        const struct pc_profile_data *data = &p->data[p->nodes[i].data];
        if (field >= data->first_field && (!code || pct_samples_of(r->samples, i).samples))
            all = pct_range_join(all, pct_totals_add_field(p, i, field, values, present));
    }
    return all;
}

struct pct_spread pct_rolled_spread(const struct pct_rolled *rolled, size_t row)
{
    struct pct_rolled_row *r = &rolled->row[row];
    const struct pc_profile *p = rolled->totals->profile;
    if (r->has_spread)
        return r->spread;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    r->spread =
        pct_totals_spread(p, pct_rolled_ranks(rolled, row, values, present), values, present);
    r->has_spread = true;
    pct_free(values);
    pct_free(present);
    return r->spread;
}

static void free_sums(struct sums *s)
{
    for (size_t i = 0; i < s->sets.n; i++)
        pct_free(s->set_rows[i]);
    pct_free(s->set_rows);
    pct_keys_free(&s->sets);
    pct_free(s->ranks);
    pct_free(s->places);
    pct_free(s->place_frames);
    pct_keys_free(&s->frames);
    pct_keys_free(&s->like_sets);
    pct_free(s->pairs);
    pct_hash_free(&s->pairs_by);
    pct_keys_free(&s->rows);
    pct_keys_free(&s->lines);
    pct_buf_free(&s->text);
}

struct pct_rolled *pct_roll_up(const struct pct_totals *m, struct pct_symbols *symbols,
                               const struct pct_samples *samples, const struct pct_tree *tree,
                               unsigned keys)
{
    struct pct_rolled *r = pct_alloc(1, sizeof *r);
    struct sums s = {.out = r, .totals = m, .symbols = symbols, .tree = tree, .keys = keys};
    r->keys = keys;
    r->totals = m;
    r->samples = samples;
    r->pool = pct_pool_new();
    r->next = pct_alloc(m->profile->n_nodes, sizeof *r->next);
    if (keys & PCT_KEYS_OF_FRAMES)
        s.places = pct_alloc(m->profile->n_nodes, sizeof *s.places);
    for (uint32_t i = 0; i < m->profile->n_nodes; i++)
        add_record(&s, i);
    if ((keys & ~(unsigned)PCT_KEY_PHASE) == PCT_KEY_REGION)
        add_regions(&s);
    free_sums(&s);
    return r;
}

void pct_rolled_free(struct pct_rolled *r)
{
    if (!r)
        return;
    pct_free(r->row);
    pct_free(r->lines);
    pct_free(r->next);
    pct_pool_free(r->pool);
    pct_free(r);
}
