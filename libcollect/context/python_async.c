/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From Python frames to nodes of the tree, and to rows of the table `symbols` that say what the
 * nodes stand for. Called where a context is made, in a call or in the sampler's handler, by the
 * thread that owns the tree and with `busy` set.
 */
#include "libcollect/context/python.h"
#include "libcollect/context/python_private.h"

struct pc_python_stack *pc_python_read(struct pc_thread *t, bool handler)
{
    if (!pc_interpreter)
        return NULL;
    if (PC_UNLIKELY(!t->python)) {
        uint32_t capacity = t->paths.max_depth;
        struct pc_python_stack *s = pc_memory(pc_python_stack_bytes(capacity));
        if (!s)
            return NULL;
        s->capacity = capacity;
        t->python = s;
    }
    pc_interpreter_read(t->python, handler);
    return t->python->n ? t->python : NULL;
}

/* Hash of what the frame was described as. 52 bits, so that JSON can represent the number
 * exactly. */
static uint64_t offset_of(const struct pc_python_stack *s)
{
    uint64_t h = pc_hash_bytes(s->file, s->file_bytes, s->line);
    h = pc_hash_bytes(s->name, s->name_bytes, h) >> 12;
    return h > 1 ? h : 2;
}

/* Writes into the table what an offset stands for. */
static bool put_row(struct pc_thread *t, const struct pc_python_stack *s, uint64_t offset)
{
    const uint64_t keys[] = {pc_python_texts.module_name, offset, 0};
    uint64_t *values = pc_table_row(t, &pc_python_symbols, keys);
    if (!values)
        return false;
    if (!values[PC_PYTHON_FUNCTION]) {
        values[PC_PYTHON_SOURCE] = pc_arena_string(&pc_process.arena, s->file, s->file_bytes);
        values[PC_PYTHON_LINE] = s->line;
        values[PC_PYTHON_FUNCTION] = pc_arena_string(&pc_process.arena, s->name, s->name_bytes);
    }
    return true;
}

pcollect_ref pc_python_module(void)
{
    return pc_python_texts.module;
}

pcollect_ref pc_python_book(struct pc_thread *t, struct pc_python_booking *b, pcollect_ref at,
                            uintptr_t sp)
{
    while (b->left && b->stack->frames[b->left - 1].at >= sp) {
        if (!pc_interpreter_describe(b->stack, &b->stack->frames[--b->left]))
            continue;
        uint64_t offset = offset_of(b->stack);
        pcollect_ref child = put_row(t, b->stack, offset)
                                 ? pc_tree_frame(t->tree, at, pc_python_texts.module, offset)
                                 : 0;
        if (!child)
            return 0;
        b->outside = at;
        b->last = offset;
        at = child;
    }
    return at;
}
