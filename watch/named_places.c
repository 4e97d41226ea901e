/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/named_places.h"
#include "analysis/allocation.h"

#include <string.h>

const char *pct_named_text(struct pct_named_places *p, const char *text)
{
    if (!p->texts)
        p->texts = pct_pool_new();
    return pct_pool_intern(p->texts, text);
}

/* ---- Places by offset ------------------------------------------------------------------------ */

static struct pct_place copy_place(struct pct_named_places *p, struct pct_place place)
{
    struct pct_frame *frames = place.n_frames ? pct_alloc(place.n_frames, sizeof *frames) : NULL;
    for (uint32_t i = 0; i < place.n_frames; i++) {
        const char *function = place.frames[i].function, *file = place.frames[i].file,
                   *home = place.frames[i].home;
        frames[i] = place.frames[i];
        frames[i].function = function ? pct_named_text(p, function) : NULL;
        frames[i].file = file ? pct_named_text(p, file) : NULL;
        frames[i].home = home ? pct_named_text(p, home) : NULL;
    }
    return (struct pct_place){frames, place.n_frames};
}

void pct_named_add(struct pct_named_places *p, const struct pct_stack_module *module,
                   uint64_t offset, struct pct_place place)
{
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64(offset ^ (uintptr_t)module)};
    uint32_t i;
    while ((i = pct_hash_next(&p->by_offset, &search)) != PC_NO_INDEX)
        if (p->at[i].module == module && p->at[i].offset == offset)
            return;
    p->at = pct_grow(p->at, p->n, &p->room, sizeof *p->at);
    p->at[p->n] = (struct pct_named_place){module, offset, copy_place(p, place)};
    pct_hash_add(&p->by_offset, search.hash, (uint32_t)p->n++);
}

/* The offset of a frame of Python is as libcollect makes it. */
uint64_t pct_named_make(struct pct_named_places *p, const struct pct_stack_module *module,
                        const struct pct_frame *frame)
{
    const char *file = frame->file, *function = frame->function;
    uint64_t h = file ? pc_hash_bytes(file, strlen(file), frame->line) : 0;
    h = pc_hash_bytes(function, strlen(function), h) >> 12;
    uint64_t offset = h > 1 ? h : 2;
    pct_named_add(p, module, offset, (struct pct_place){frame, 1});
    return offset;
}

static bool is_of(const struct pct_named_place *p, const struct pc_profile_module *m)
{
    return pct_stack_module_is(p->module, m->path, m->build_id, m->build_id_bytes);
}

void pct_named_look_up(struct pct_named_places *p, const struct pc_profile *profile,
                       struct pct_symbols *s)
{
    for (uint32_t m = 0; m < profile->n_modules; m++)
        for (size_t i = 0; i < p->n; i++) {
            struct pct_place *place = &p->at[i].place;
            if (place->n_frames || !is_of(&p->at[i], &profile->modules[m]))
                continue;
            struct pct_place found = pct_symbols_find(s, m, p->at[i].offset);
            if (found.frames->function)
                *place = copy_place(p, found);
        }
}

void pct_named_teach(const struct pct_named_places *p, const struct pc_profile *profile,
                     struct pct_symbols *s)
{
    for (uint32_t m = 0; m < profile->n_modules; m++)
        for (size_t i = 0; i < p->n; i++)
            if (p->at[i].place.n_frames && is_of(&p->at[i], &profile->modules[m]) &&
                !pct_symbols_has_file(s, m))
                pct_symbols_teach(s, m, p->at[i].offset, p->at[i].place);
}

void pct_named_free(struct pct_named_places *p)
{
    for (size_t i = 0; i < p->n; i++)
        pct_free((void *)p->at[i].place.frames);
    pct_free(p->at);
    pct_hash_free(&p->by_offset);
    if (p->texts)
        pct_pool_free(p->texts);
    *p = (struct pct_named_places){0};
}
