/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each stack becomes a tree of one context, and a rank with its number in w: so the merged profile
 * has for each context the stacks that are in it.
 */
#include "watch/stack_profile.h"
#include "analysis/allocation.h"
#include "watch/node_stacks.h"

#include <string.h>

/* Larger than any number of stacks, which are numbered like ranks. */
enum { WORLD = 1 << 30 };

static void keep_stack(struct pct_watch *w, const struct pct_watched_stack *of,
                       const struct pct_stack *s, const char *op)
{
    w->stacks = pct_grow(w->stacks, w->n_stacks, &w->room, sizeof *w->stacks);
    struct pct_watched_stack *added = &w->stacks[w->n_stacks++];
    *added = *of;
    added->program = pct_stack_is_program(s);
    pc_format(added->op, sizeof added->op, "%s", op);
}

/* Notes the places in files, for which another node may ask, as pct_stack_tree_add makes nodes. */
static void note_places(struct pct_watch *w, const struct pct_stack *s,
                        const struct pct_shown_frames *shown)
{
    for (size_t i = shown->from; i < shown->to; i++) {
        const struct pct_stack_frame *f = &s->frames[i];
        bool point = i == shown->from && !*shown->op;
        if (f->module && *f->module->path == '/')
            pct_named_add(&w->frames.named, f->module, f->offset + point,
                          (struct pct_place){NULL, 0});
    }
}

int pct_stack_add(struct pct_watch *w, const struct pct_watched_stack *of,
                  const struct pct_stack *s, struct pc_error *error)
{
    const struct pct_watched *process = &w->job->processes[of->process];
    struct pct_shown_frames shown = pct_shown_frames(s);
    bool wanted = w->all_threads || of->tid == process->pid || pct_stack_is_program(s);
    if (!wanted || (shown.from == shown.to && !*shown.op)) {
        w->n_other++;
        return PC_OK;
    }
    const struct pct_stack_rank rank = {
        .rank = (int32_t)w->n_stacks, .world = WORLD, .pid = process->pid, .host = "", .exe = ""};
    if (w->sent) {
        pct_sent_put_stack(w->sent, &w->frames.modules, s);
        note_places(w, s, &shown);
        keep_stack(w, of, s, shown.op);
        return PC_OK;
    }
    struct pct_stack_tree *t = pct_stack_tree_new();
    pct_stack_tree_add(t, s, &shown, &(struct pct_stack_sampled){.samples = 1, .ns = 1});
    struct pc_profile *p = pct_stack_tree_profile(t, &rank);
    pct_stack_tree_free(t);
    if (!p)
        return PC_ENOMEM;
    keep_stack(w, of, s, shown.op);
    return pc_profile_sum_add(&w->sum, p, error);
}

int pct_watch_profile(struct pct_watch *w, struct pc_profile **out, struct pc_error *error)
{
    return pc_profile_sum_finish(&w->sum, out, error);
}

/* A profile without contexts has the modules, whose files the symbols read. */
void pct_watch_look_up(struct pct_watch *w)
{
    struct pc_profile p = {.modules = pct_alloc(w->frames.modules.n, sizeof *p.modules)};
    for (; p.n_modules < w->frames.modules.n; p.n_modules++) {
        const struct pct_stack_module *from = w->frames.modules.at[p.n_modules];
        struct pc_profile_module *m = &p.modules[p.n_modules];
        m->path = from->path;
        m->flags = from->flags;
        m->build_id_bytes = from->n_build_id;
        memcpy(m->build_id, from->build_id, from->n_build_id);
    }
    struct pct_symbols *symbols = pct_symbols_new_files(&p);
    if (w->frames.files)
        pct_code_files_show(w->frames.files, &p, symbols);
    pct_named_look_up(&w->frames.named, &p, symbols);
    pct_symbols_free(symbols);
    pct_free(p.modules);
}

void pct_watch_free(struct pct_watch *w)
{
    pc_profile_sum_free(&w->sum);
    for (size_t i = 0; i < w->n_stacks; i++)
        pct_free(w->stacks[i].call.messages);
    pct_free(w->stacks);
    pct_code_frames_free(&w->frames);
    pct_comm_places_free(&w->comms);
    pct_free(w->mpi_folder);
    w->stacks = NULL;
    w->mpi_folder = NULL;
}
