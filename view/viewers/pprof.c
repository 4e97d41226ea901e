/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The format of pprof: one message of protocol buffers, not compressed, whose fields are written
 * here by hand: a key, which is the field's number and kind, then a varint or a length and so many
 * bytes. A location stands for each node: a function and the line of the call that it makes; or for
 * each line at which a function computes. A mapping stands for each module, and says that all of it
 * is known, so that pprof looks for no file.
 */
#include "view/viewers/viewers.h"

#include "view/table.h"

#include <stdlib.h>
#include <string.h>

/* Fields of the messages, as profile.proto of pprof numbers them. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS = 10,
    PROFILE_DEFAULT_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4
};

static void put_varint(struct pct_buf *b, uint64_t v)
{
    do {
        char byte = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        pct_buf_put(b, &byte, 1);
        v >>= 7;
    } while (v);
}

static void put_number(struct pct_buf *b, unsigned field, uint64_t v)
{
    put_varint(b, (uint64_t)field << 3);
    put_varint(b, v);
}

static void put_head(struct pct_buf *b, unsigned field, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, n);
}

/* Puts a message into the one around it, and empties it. */
static void put_message(struct pct_buf *b, unsigned field, struct pct_buf *message)
{
    put_head(b, field, message->n);
    pct_buf_put(b, message->n ? message->data : "", message->n);
    pct_buf_clear(message);
}

/* ---- The outermost message, which goes to the file at once ------------------------------------
 */

static void write_number(FILE *out, unsigned field, uint64_t v)
{
    struct pct_buf b = {0};
    put_number(&b, field, v);
    fwrite(b.data, 1, b.n, out);
    pct_buf_free(&b);
}

static void write_bytes(FILE *out, unsigned field, const char *data, size_t n)
{
    struct pct_buf head = {0};
    put_head(&head, field, n);
    fwrite(head.data, 1, head.n, out);
    fwrite(data, 1, n, out);
    pct_buf_free(&head);
}

/* Writes a message, and empties it. */
static void write_message(FILE *out, unsigned field, struct pct_buf *message)
{
    write_bytes(out, field, message->n ? message->data : "", message->n);
    pct_buf_clear(message);
}

/* The strings are numbered as they are written: 0 is "", then names and units of the values, then
 * path of each module, then name and file of each function. */
struct strings {
    FILE *out;
    uint64_t n;
};

static uint64_t put_string(struct strings *s, const char *text)
{
    write_bytes(s->out, PROFILE_STRING, text, strlen(text));
    return s->n++;
}

static void put_types(FILE *out, const struct pct_stacks *s, struct strings *strings)
{
    struct pct_buf type = {0};
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++) {
        if (!s->has[k])
            continue;
        uint64_t name = put_string(strings, pct_value_types[k].name);
        put_number(&type, VALUE_TYPE, name);
        put_number(&type, VALUE_UNIT, put_string(strings, pct_value_types[k].unit));
        write_message(out, PROFILE_SAMPLE_TYPE, &type);
        if (k == PCT_VALUE_TIME || (k == PCT_VALUE_MPI && !s->has[PCT_VALUE_TIME]))
            write_number(out, PROFILE_DEFAULT_TYPE, name);
    }
    pct_buf_free(&type);
}

/* PC_NO_INDEX: it is in none that is known, as an MPI function. */
static uint32_t module_of(const struct pct_node *n)
{
    bool code = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    return code ? n->module : PC_NO_INDEX;
}

/* The outermost module comes first: pprof takes it for the program. */
static void put_mappings(FILE *out, const struct pct_stacks *s, struct strings *strings)
{
    const struct pc_profile *p = s->data->profile;
    bool *put = pct_alloc(p->n_modules, sizeof *put);
    struct pct_buf mapping = {0}, path = {0};
    for (uint32_t i = 1; i < s->tree->n; i++) {
        uint32_t module = module_of(&s->tree->nodes[i]);
        if (module == PC_NO_INDEX || put[module])
            continue;
        put[module] = true;
        pct_buf_clear(&path);
        pct_text_escape(&path, p->modules[module].path, PCT_ESCAPE_CELL);
        put_number(&mapping, MAPPING_ID, module + (uint64_t)1);
        put_number(&mapping, MAPPING_FILE, put_string(strings, path.data));
        put_number(&mapping, MAPPING_HAS_FUNCTIONS, 1);
        put_number(&mapping, MAPPING_HAS_FILES, 1);
        put_number(&mapping, MAPPING_HAS_LINES, 1);
        write_message(out, PROFILE_MAPPING, &mapping);
    }
    pct_buf_free(&path);
    pct_buf_free(&mapping);
    pct_free(put);
}

static void put_functions(FILE *out, const struct pct_stacks *s, struct strings *strings)
{
    struct pct_buf function = {0};
    for (uint32_t i = 0; i < s->n_functions; i++) {
        const struct pct_stack_function *f = &s->functions[i];
        uint64_t name = put_string(strings, f->name);
        put_number(&function, FUNCTION_ID, i + (uint64_t)1);
        put_number(&function, FUNCTION_NAME, name);
        put_number(&function, FUNCTION_SYSTEM_NAME, name);
        if (f->file)
            put_number(&function, FUNCTION_FILE, put_string(strings, f->file));
        write_message(out, PROFILE_FUNCTION, &function);
    }
    pct_buf_free(&function);
}

static void put_location(FILE *out, const struct pct_stacks *s, uint64_t id, uint32_t node,
                         uint32_t at_line)
{
    struct pct_buf location = {0}, line = {0};
    uint32_t module = module_of(&s->tree->nodes[node]);
    put_number(&location, LOCATION_ID, id);
    if (module != PC_NO_INDEX)
        put_number(&location, LOCATION_MAPPING, module + (uint64_t)1);
    put_number(&line, LINE_FUNCTION, s->function_of[node] + (uint64_t)1);
    if (at_line)
        put_number(&line, LINE_LINE, at_line);
    put_message(&location, LOCATION_LINE, &line);
    write_message(out, PROFILE_LOCATION, &location);
    pct_buf_free(&line);
    pct_buf_free(&location);
}

static void put_locations(FILE *out, const struct pct_stacks *s)
{
    for (uint32_t i = 1; i < s->tree->n; i++) {
        const struct pct_node *n = &s->tree->nodes[i];
        put_location(out, s, i, i, n->kind == PCOLLECT_NODE_FRAME ? n->frame->line : 0);
    }
}

/* The part of a node's figures that is at one line. */
struct part {
    uint32_t line;
    pc_u128 ns;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* The lines of a function that computes, with what was sampled there. NULL: there are none, or it
 * is not such a node. */
static struct part *find_parts(const struct pct_stacks *s, uint32_t node, size_t *n_out)
{
    const struct pct_tree *t = s->tree;
    const uint32_t first = t->nodes[node].first_source;
    size_t n = 0, kept = 0;
    *n_out = 0;
    if (t->nodes[node].kind != PCOLLECT_NODE_POINT || !t->samples)
        return NULL;
    for (uint32_t at = first; at != PC_NO_INDEX; at = t->next_source[at])
        n++;
    struct part *parts = pct_alloc(n, sizeof *parts);
    for (uint32_t at = first, i = 0; at != PC_NO_INDEX; at = t->next_source[at], i++) {
        struct pct_place place = pct_symbols_node(pct_data_symbols(s->data), at);
        parts[i].line = place.n_frames ? place.frames[place.n_frames - 1].line : 0;
        parts[i].ns = pct_samples_of(t->samples, at).ns;
    }
    qsort(parts, n, sizeof *parts, compare_parts);
    for (size_t i = 0; i < n; i++) {
        if (!kept || parts[kept - 1].line != parts[i].line)
            parts[kept++] = parts[i];
        else
            parts[kept - 1].ns += parts[i].ns;
    }
    *n_out = kept;
    return parts;
}

/* Writes a sample: the stack from the innermost frame on, whose location is `leaf`, then a part of
 * each figure. range: its begin, its end, and the whole. Parts add up to the figure. */
static void put_sample(FILE *out, const struct pct_stacks *s, uint32_t node, uint64_t leaf,
                       const pc_u128 range[3])
{
    struct pct_buf sample = {0}, list = {0};
    put_varint(&list, leaf);
    for (uint32_t at = s->tree->nodes[node].parent; at; at = s->tree->nodes[at].parent)
        put_varint(&list, at);
    put_message(&sample, SAMPLE_LOCATION, &list);
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++) {
        pc_u128 value = pct_stack_value(s, node, k);
        if (s->has[k])
            put_varint(&list,
                       (uint64_t)(value * range[1] / range[2] - value * range[0] / range[2]));
    }
    put_message(&sample, SAMPLE_VALUE, &list);
    write_message(out, PROFILE_SAMPLE, &sample);
    pct_buf_free(&list);
    pct_buf_free(&sample);
}

/* Writes the samples of all nodes. A function that computes has one for each line, with a location
 * of its own. */
static void put_samples(FILE *out, const struct pct_stacks *s)
{
    uint64_t next_id = s->tree->n;
    for (uint32_t i = 1; i < s->tree->n; i++) {
        if (!pct_stack_has_value(s, i))
            continue;
        size_t n;
        struct part *parts = find_parts(s, i, &n);
        pc_u128 range[3] = {0, 0, 0};
        for (size_t k = 0; k < n; k++)
            range[2] += parts[k].ns;
        for (size_t k = 0; k < n && range[2]; k++) {
            range[1] = range[0] + parts[k].ns;
            put_location(out, s, next_id, i, parts[k].line);
            put_sample(out, s, i, next_id++, range);
            range[0] = range[1];
        }
        if (!range[2])
            put_sample(out, s, i, i, (const pc_u128[]){0, 1, 1});
        pct_free(parts);
    }
}

void pct_viewer_pprof(FILE *out, const struct pct_stacks *s)
{
    struct strings strings = {out, 0};
    uint64_t longest_ns = 0;
    for (uint32_t r = 0; r < s->data->profile->n_ranks; r++) {
        uint64_t ns = pct_totals_wall_ns(&s->data->profile->ranks[r]);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    put_string(&strings, "");
    put_types(out, s, &strings);
    put_mappings(out, s, &strings);
    put_functions(out, s, &strings);
    put_locations(out, s);
    put_samples(out, s);
    write_number(out, PROFILE_TIME_NS, s->data->totals->all.start_ns);
    write_number(out, PROFILE_DURATION_NS, longest_ns);
}
