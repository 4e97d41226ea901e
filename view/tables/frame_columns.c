/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `frames`: the tree of calls, a row for each node but the root, in an order in which
 * callers come first. Tables name a place in it by its number, where a path would be long. The
 * number is the index of the node in the tree, which the profile and the options --depth,
 * --full-paths and those of parts of the run determine.
 */
#include "view/tables/figures.h"
#include "view/tables/tables.h"

static size_t count_frames(const struct pct_data *d)
{
    return pct_data_tree(d)->n - 1;
}

static const struct pct_node *node_of(const struct pct_cell *c)
{
    return &pct_data_tree(c->d)->nodes[c->row + 1];
}

static const struct pct_frame *frame_of(const struct pct_cell *c)
{
    return node_of(c)->kind == PCOLLECT_NODE_FRAME ? node_of(c)->frame : NULL;
}

static void get_frame(const struct pct_cell *c, struct pct_value *out)
{
    pct_frame_value((uint32_t)c->row + 1, out);
}

static void get_parent(const struct pct_cell *c, struct pct_value *out)
{
    pct_frame_value(node_of(c)->parent, out);
}

static void get_label(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(node_of(c)->label, out);
}

static void get_kind(const struct pct_cell *c, struct pct_value *out)
{
    static const char *const words[] = {
        [PCOLLECT_NODE_FRAME] = "function", [PCOLLECT_NODE_OP] = "primitive",
        [PCOLLECT_NODE_PHASE] = "phase",    [PCOLLECT_NODE_REGION] = "region",
        [PCOLLECT_NODE_CUT] = "cut",
    };
    pct_value_plain(words[node_of(c)->kind], out);
}

static void get_function(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, frame_of(c) ? frame_of(c)->function : NULL, out);
}

static void get_file(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, frame_of(c) ? frame_of(c)->file : NULL, out);
}

static void get_line(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = frame_of(c) ? frame_of(c)->line : 0;
    out->none = !out->integer;
}

static void get_module(const struct pct_cell *c, struct pct_value *out)
{
    uint32_t module = node_of(c)->module;
    pct_value_text(c->d, module == PC_NO_INDEX ? NULL : c->d->profile->modules[module].path, out);
}

static void get_offset(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_node_offset(c->d->profile, node_of(c));
    out->none = node_of(c)->module == PC_NO_INDEX;
}

static void get_inlined(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !frame_of(c);
    out->integer = frame_of(c) && frame_of(c)->inlined;
}

static void get_tail_call(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !frame_of(c);
    out->integer = frame_of(c) && frame_of(c)->tail_call;
}

static const struct pct_column frame_columns[] = {
    {"frame", "frame", PCT_INTEGER, "number of the frame, as the column frame of other tables",
     get_frame},
    {"parent", "parent", PCT_INTEGER,
     "number of the frame that called it, less than its own; empty for the outermost", get_parent},
    {"label", "label", PCT_TEXT, "the frame as in a path", get_label, .labels = true},
    {"kind", "kind", PCT_TEXT, "function, primitive (an MPI function), phase, region or cut",
     get_kind},
    {"function", "function", PCT_TEXT, "function; empty if unknown", get_function},
    {"file", "file", PCT_TEXT, "source file; empty if unknown", get_file, .path = true},
    {"line", "line", PCT_INTEGER, "line of the call made in this frame; empty if unknown",
     get_line},
    {"module", "module", PCT_TEXT, "program or library", get_module, .path = true},
    {"offset", "offset", PCT_COUNT, "return address less the load address of the module",
     get_offset},
    {"inlined", "inlined", PCT_YES_NO, "yes: the compiler inlined it into its parent", get_inlined},
    {"tail_call", "tail call", PCT_YES_NO,
     "yes: it had left by a tail call, and was found in debug information", get_tail_call},
};

const struct pct_table pct_frames_table = {
    .name = "frames",
    .doc = "one row for each frame, and each MPI function in it: what paths are made of",
    .count = count_frames,
    .of_tree = true,
    .asked = true,
    PCT_COLUMNS(frame_columns),
};
