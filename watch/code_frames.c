/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/code_frames.h"
#include "analysis/allocation.h"
#include "analysis/tree/label.h"
#include "libcollect/walk/walk.h"
#include "watch/vdso_names.h"

/* Cached meaning of a program counter. */
struct pct_known_frame {
    uintptr_t key; /* pc * 2 + exact */
    struct pct_stack_frame frame;
};

/* The label of a function without a name, as in reports; NULL: where it begins is not known. */
static const char *label_of(struct pct_code_frames *f, const struct pc_module *m,
                            const struct pct_stack_module *module, uintptr_t pc)
{
    struct pct_buf b = {0};
    uintptr_t begin = pc_walk_function_start(pc);
    if (!begin)
        return NULL;
    pct_label_nameless(&b, pc_base_name(module->path), &(struct pct_frame){0}, begin - m->bias, 0);
    const char *label = pct_named_text(&f->named, b.data);
    pct_buf_free(&b);
    return label;
}

/* Looks up a function at the call, which may be its last instruction. */
static struct pct_stack_frame find_in_file(struct pct_code_frames *f, const struct pct_walked *w)
{
    const struct pc_module *m = pc_loadmap_find(w->pc - !w->exact);
    struct pct_stack_frame frame = {.exact = w->exact, .offset = w->there};
    if (!m)
        return frame;
    frame.offset = w->pc - m->bias;
    frame.module = pct_stack_module(&f->modules, pct_code_module_name(f->files, m), m->build_id,
                                    m->build_id_bytes);
    frame.function = pct_code_names_function(pct_code_files_names(f->files), w->pc - !w->exact);
    pct_vdso_name(&f->named, &frame);
    if (!frame.function)
        frame.label = label_of(f, m, frame.module, w->pc - !w->exact);
    return frame;
}

static struct pct_stack_frame frame_of(struct pct_code_frames *f, const struct pct_walked *w)
{
    uintptr_t key = w->pc * 2 + w->exact;
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64(key)};
    uint32_t i;
    while ((i = pct_hash_next(&f->by_place, &search)) != PC_NO_INDEX)
        if (f->known[i].key == key)
            return f->known[i].frame;
    f->known = pct_grow(f->known, f->n_known, &f->known_room, sizeof *f->known);
    f->known[f->n_known] = (struct pct_known_frame){key, find_in_file(f, w)};
    pct_hash_add(&f->by_place, search.hash, (uint32_t)f->n_known);
    return f->known[f->n_known++].frame;
}

/* Names code that the process has made, of which it tells no names. */
static void name_made(struct pct_code_frames *f, struct pct_stack_frame *frame)
{
    frame->module = pct_stack_module(&f->modules, PCOLLECT_MODULE_JIT, NULL, 0);
    frame->function = PCT_MADE_CODE;
    frame->offset =
        pct_named_make(&f->named, frame->module, &(struct pct_frame){.function = frame->function}) -
        frame->exact;
}

/* The frame of code that belongs to no file, or to one that could not be opened. */
static struct pct_stack_frame frame_of_none(struct pct_code_frames *f, int pid,
                                            const struct pct_code *code, struct pct_jit *jit,
                                            const struct pct_walked *w)
{
    struct pct_stack_frame frame = {.offset = w->there, .exact = w->exact};
    const char *gone = pct_code_gone(code, w->there - !w->exact, &frame.offset);
    if (gone) {
        frame.module = pct_stack_module(&f->modules, gone, NULL, 0);
        frame.offset += !w->exact;
        return frame;
    }
    if (!pct_jit_name(jit, pid, &f->named, &f->modules, &frame) &&
        pct_code_is_made(code, w->there - !w->exact))
        name_made(f, &frame);
    return frame;
}

struct pct_stack_frame pct_code_frame(struct pct_code_frames *f, int pid,
                                      const struct pct_code *code, struct pct_jit *jit,
                                      const struct pct_walked *walked)
{
    return walked->pc ? frame_of(f, walked) : frame_of_none(f, pid, code, jit, walked);
}

void pct_code_frames_cut(struct pct_code_frames *f, const struct pct_code *code,
                         const struct pct_walked *walked, const struct pct_stack_frame *outermost)
{
    const struct pc_module *m = pc_loadmap_find(walked->pc - !walked->exact);
    for (size_t i = 0; i < f->modules.n; i++) {
        struct pct_stack_module *of = f->modules.at[i];
        if (of != outermost->module)
            continue;
        of->n_cut++;
        of->tableless = pct_code_has_pointers(code, walked->there - !walked->exact)
                            ? PCT_TABLELESS_GO
                        : m && m->eh_frame_hdr ? PCT_TABLELESS_PLACE
                                               : PCT_TABLELESS_FILE;
        return;
    }
}

struct pct_tableless pct_code_frames_tableless(const struct pct_code_frames *f)
{
    struct pct_tableless all = {0};
    uint64_t most = 0;
    for (size_t i = 0; i < f->modules.n; i++) {
        const struct pct_stack_module *m = f->modules.at[i];
        all.n += m->n_cut;
        all.n_files += m->n_cut > 0;
        if (m->n_cut > most) {
            most = m->n_cut;
            all.most = m->path;
            all.kind = m->tableless;
        }
    }
    return all;
}

void pct_tableless_put(struct pct_buf *b, const struct pct_tableless *t)
{
    static const char *const why[] = {
        [PCT_TABLELESS_PLACE] = "at places without an unwind entry",
        [PCT_TABLELESS_FILE] = ("which has no unwind table (compile it with "
                                "-fasynchronous-unwind-tables, and keep .eh_frame)"),
        [PCT_TABLELESS_GO] = "in code of Go, which has no unwind table"};
    if (t->n_files > 1)
        pct_buf_format(b, "in %zu files, most in ", t->n_files);
    else
        pct_buf_text(b, "in ");
    pct_text_escape(b, t->most, PCT_ESCAPE_CELL);
    pct_buf_format(b, ", %s", why[t->kind]);
}

void pct_code_frames_free(struct pct_code_frames *f)
{
    pct_stack_modules_free(&f->modules);
    pct_code_files_free(f->files);
    pct_named_free(&f->named);
    pct_free(f->known);
    pct_hash_free(&f->by_place);
    *f = (struct pct_code_frames){0};
}
