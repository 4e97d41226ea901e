/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/node_stacks.h"
#include "analysis/allocation.h"

#include <string.h>

/* No job has more: memory for each rank is taken when an answer says how many there are. */
enum { MOST_RANKS = 1 << 24 };

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_signed(struct pc_buffer *b, int64_t v)
{
    pc_put_varint(b, pc_zigzag((uint64_t)v));
}

/* The number of a module, 0: unknown. */
static void put_module(struct pc_buffer *b, const struct pct_stack_modules *modules,
                       const struct pct_stack_module *module)
{
    size_t i = 0;
    while (i < modules->n && modules->at[i] != module)
        i++;
    pc_put_varint(b, i < modules->n ? i + 1 : 0);
}

static void put_text(struct pc_buffer *b, const char *text)
{
    pc_put_text(b, text ? text : "");
}

void pct_sent_put_stack(struct pc_buffer *b, const struct pct_stack_modules *modules,
                        const struct pct_stack *s)
{
    pc_put_varint(b, s->cut);
    put_text(b, s->mpi_folder);
    pc_put_varint(b, s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct pct_stack_frame *f = &s->frames[i];
        put_module(b, modules, f->module);
        pc_put_varint(b, f->offset);
        pc_put_varint(b, f->exact);
        put_text(b, f->function);
    }
}

static void put_message(struct pc_buffer *b, const struct pct_message *m)
{
    pc_put_varint(b, m->send);
    pc_put_varint(b, m->comm);
    pc_put_varint(b, m->domain);
    put_signed(b, m->peer);
    put_signed(b, m->tag);
}

static void put_call(struct pc_buffer *b, const struct pct_mpi_call *call)
{
    put_text(b, call->op);
    pc_put_varint(b, call->known);
    pc_put_varint(b, call->comm);
    pc_put_varint(b, call->domain);
    put_signed(b, call->peer);
    put_signed(b, call->root);
    put_signed(b, call->tag);
    put_signed(b, call->source);
    put_signed(b, call->n_unknown);
    pc_put_varint(b, (uint64_t)call->n_messages);
    for (int i = 0; i < call->n_messages; i++)
        put_message(b, &call->messages[i]);
}

void pct_sent_put_named(struct pc_buffer *b, const struct pct_watch *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->frames.named.n; i++)
        n += w->frames.named.at[i].place.n_frames > 0;
    pc_put_varint(b, n);
    for (size_t i = 0; i < w->frames.named.n; i++) {
        const struct pct_named_place *p = &w->frames.named.at[i];
        if (!p->place.n_frames)
            continue;
        put_module(b, &w->frames.modules, p->module);
        pc_put_varint(b, p->offset);
        pc_put_varint(b, p->place.n_frames);
        for (uint32_t k = 0; k < p->place.n_frames; k++) {
            const struct pct_frame *f = &p->place.frames[k];
            put_text(b, f->function);
            put_text(b, f->file);
            pc_put_varint(b, f->line);
            pc_put_varint(b, f->inlined);
        }
    }
}

static void put_processes(struct pc_buffer *b, const struct pct_watched_job *job)
{
    struct pc_config_launch launch = {.n_local = -1};
    char exe[4096] = "";
    if (job->n) {
        launch = pct_watch_launch(job->processes[0].pid);
        pct_watch_exe(job->processes[0].pid, exe, sizeof exe);
    }
    pc_put_text(b, exe);
    pc_put_le(b, launch.key, 8);
    put_signed(b, job->world);
    put_signed(b, launch.n_local);
    pc_put_varint(b, job->whole);
    pc_put_varint(b, job->n);
    for (size_t i = 0; i < job->n; i++) {
        put_signed(b, job->processes[i].pid);
        put_signed(b, job->processes[i].rank);
        pc_put_varint(b, job->processes[i].ended);
    }
}

void pct_sent_put(struct pc_buffer *b, const struct pct_watch *w, size_t first)
{
    put_processes(b, w->job);
    pc_put_varint(b, w->frames.modules.n);
    for (size_t i = 0; i < w->frames.modules.n; i++) {
        const struct pct_stack_module *m = w->frames.modules.at[i];
        pc_put_text(b, m->path);
        pc_put_varint(b, m->n_build_id);
        pc_put_bytes(b, m->build_id, m->n_build_id);
    }
    pct_sent_put_named(b, w);
    pc_put_varint(b, w->comms.n);
    for (size_t i = 0; i < w->comms.n; i++) {
        const struct pct_comm_place *p = &w->comms.at[i];
        pc_put_varint(b, p->id);
        put_signed(b, p->world);
        put_signed(b, p->rank);
        put_signed(b, p->size);
    }
    pc_put_varint(b, w->n_other);
    pc_put_varint(b, w->n_lost);
    pc_put_varint(b, w->n_stacks);
    pc_put_varint(b, first);
    for (size_t i = 0; i < w->n_stacks; i++) {
        const struct pct_watched_stack *s = &w->stacks[i];
        pc_put_varint(b, s->process);
        put_signed(b, s->tid);
        pc_put_varint(b, (unsigned char)s->state);
        pc_put_varint(b, s->call_ns);
        put_call(b, &s->call);
    }
    pc_put_bytes(b, w->sent->data, w->sent->n);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int get_int(struct pc_cursor *c)
{
    int64_t v = (int64_t)pc_unzigzag(pc_get_varint(c));
    if (v < INT32_MIN || v > INT32_MAX)
        c->failed = true;
    return c->failed ? 0 : (int)v;
}

/* A number that others are made of: memory of that size, an index. */
static int get_within(struct pc_cursor *c, int least, int most)
{
    int v = get_int(c);
    c->failed = c->failed || v < least || v > most;
    return c->failed ? least : v;
}

static const char *get_text(struct pc_cursor *c, struct pct_watch *w)
{
    uint64_t n = pc_get_varint(c);
    const uint8_t *at = pc_get_bytes(c, n);
    if (!at)
        return "";
    char *copy = pct_alloc(n + 1, 1);
    memcpy(copy, at, n);
    const char *text = pct_named_text(&w->frames.named, copy);
    pct_free(copy);
    return text;
}

/* NULL for an empty text. */
static const char *get_any_text(struct pc_cursor *c, struct pct_watch *w)
{
    const char *text = get_text(c, w);
    return *text ? text : NULL;
}

static void get_processes(struct pc_cursor *c, struct pct_watch *w, struct pct_sent *out)
{
    out->exe = get_text(c, w);
    out->key = pc_get_le(c, 8);
    out->world = get_within(c, -1, MOST_RANKS);
    out->n_local = get_within(c, -1, MOST_RANKS);
    out->whole = pc_get_below(c, 1);
    out->n = pc_get_count(c, 3);
    out->processes = pct_alloc(out->n, sizeof *out->processes);
    for (size_t i = 0; i < out->n; i++) {
        out->processes[i].pid = get_int(c);
        out->processes[i].rank = get_within(c, -1, MOST_RANKS - 1);
        out->processes[i].ended = pc_get_below(c, 1);
    }
}

static void get_modules(struct pc_cursor *c, struct pct_watch *w, struct pct_sent *out)
{
    out->n_modules = pc_get_count(c, 2);
    out->modules = pct_alloc(out->n_modules, sizeof *out->modules);
    for (size_t i = 0; i < out->n_modules; i++) {
        const char *path = get_text(c, w);
        uint32_t n_id = (uint32_t)pc_get_below(c, PCOLLECT_BUILD_ID_BYTES);
        const uint8_t *id = pc_get_bytes(c, n_id);
        out->modules[i] = pct_stack_module(&w->frames.modules, path, id, id ? n_id : 0);
    }
}

/* NULL: unknown. */
static const struct pct_stack_module *get_module(struct pc_cursor *c, const struct pct_sent *from)
{
    uint64_t number = pc_get_below(c, from->n_modules);
    return number ? from->modules[number - 1] : NULL;
}

static void get_named(struct pc_cursor *c, struct pct_watch *w, const struct pct_sent *from)
{
    for (uint32_t n = pc_get_count(c, 7); n && !c->failed; n--) {
        const struct pct_stack_module *module = get_module(c, from);
        uint64_t offset = pc_get_varint(c);
        uint32_t n_frames = pc_get_count(c, 4);
        struct pct_frame *frames = pct_alloc(n_frames, sizeof *frames);
        for (uint32_t i = 0; i < n_frames; i++) {
            frames[i].function = get_any_text(c, w);
            frames[i].file = get_any_text(c, w);
            frames[i].line = (uint32_t)pc_get_below(c, UINT32_MAX);
            frames[i].inlined = pc_get_below(c, 1);
        }
        c->failed = c->failed || !module || !n_frames;
        if (!c->failed)
            pct_named_add(&w->frames.named, module, offset, (struct pct_place){frames, n_frames});
        pct_free(frames);
    }
}

static void get_comms(struct pc_cursor *c, struct pct_comm_places *comms)
{
    uint32_t n = pc_get_count(c, 4);
    for (uint32_t i = 0; i < n; i++) {
        struct pct_comm_place p = {.id = pc_get_varint(c)};
        p.world = get_within(c, 0, MOST_RANKS - 1);
        p.rank = get_within(c, 0, MOST_RANKS - 1);
        p.size = get_within(c, p.rank + 1, MOST_RANKS);
        if (c->failed)
            return;
        comms->at = pct_grow(comms->at, comms->n, &comms->room, sizeof *comms->at);
        comms->at[comms->n++] = p;
    }
}

static struct pct_message get_message(struct pc_cursor *c)
{
    struct pct_message m = {.send = pc_get_below(c, 1)};
    m.comm = (enum pct_call_comm)pc_get_below(c, PCT_COMM_OTHER);
    m.domain = pc_get_varint(c);
    m.peer = get_int(c);
    m.tag = get_int(c);
    return m;
}

static void get_call(struct pc_cursor *c, struct pct_watch *w, struct pct_mpi_call *call)
{
    call->op = get_any_text(c, w);
    call->known = pc_get_below(c, 1);
    call->comm = (enum pct_call_comm)pc_get_below(c, PCT_COMM_OTHER);
    call->domain = pc_get_varint(c);
    call->peer = get_int(c);
    call->root = get_int(c);
    call->tag = get_int(c);
    call->source = get_int(c);
    call->n_unknown = get_int(c);
    call->n_messages = (int)pc_get_count(c, 5);
    call->messages =
        call->n_messages ? pct_alloc((size_t)call->n_messages, sizeof *call->messages) : NULL;
    for (int i = 0; i < call->n_messages; i++)
        call->messages[i] = get_message(c);
}

static void get_stack(struct pc_cursor *c, struct pct_watch *w, const struct pct_sent *from,
                      struct pct_stack *s)
{
    s->cut = pc_get_below(c, 1);
    s->mpi_folder = get_any_text(c, w);
    s->n = pc_get_count(c, 4);
    if (s->n > PCT_STACK_FRAMES)
        c->failed = true;
    s->n = c->failed ? 0 : s->n;
    s->frames = pct_alloc(s->n, sizeof *s->frames);
    for (size_t i = 0; i < s->n; i++) {
        struct pct_stack_frame *f = &s->frames[i];
        f->module = get_module(c, from);
        f->offset = pc_get_varint(c);
        f->exact = pc_get_below(c, 1);
        f->function = get_any_text(c, w);
    }
}

static void get_stacks(struct pc_cursor *c, struct pct_watch *w, struct pct_sent *out)
{
    out->n_stacks = pc_get_count(c, 4);
    out->first = pc_get_below(c, out->n_stacks);
    out->stacks = pct_alloc(out->n_stacks, sizeof *out->stacks);
    for (size_t i = 0; i < out->n_stacks; i++) {
        struct pct_watched_stack *s = &out->stacks[i].of;
        s->process = (uint32_t)pc_get_varint(c);
        if (s->process >= out->n)
            c->failed = true;
        s->tid = get_int(c);
        s->state = (char)pc_get_below(c, 127);
        s->call_ns = pc_get_varint(c);
        get_call(c, w, &s->call);
    }
    for (size_t i = 0; i < out->n_stacks; i++) {
        struct pct_sent_stack *s = &out->stacks[i];
        get_stack(c, w, out, &s->stack);
        s->stack.op = s->of.call.op;
    }
}

bool pct_sent_get(struct pc_cursor *c, struct pct_watch *w, struct pct_sent *out)
{
    *out = (struct pct_sent){0};
    get_processes(c, w, out);
    get_modules(c, w, out);
    get_named(c, w, out);
    get_comms(c, &w->comms);
    out->n_other = (uint32_t)pc_get_below(c, UINT32_MAX);
    out->n_lost = (uint32_t)pc_get_below(c, UINT32_MAX);
    get_stacks(c, w, out);
    return !c->failed && c->at == c->end;
}

bool pct_sent_get_named(struct pc_cursor *c, struct pct_watch *w, const struct pct_sent *from)
{
    get_named(c, w, from);
    return !c->failed && c->at == c->end;
}

void pct_sent_free(struct pct_sent *n)
{
    for (size_t i = 0; i < n->n_stacks; i++) {
        pct_free(n->stacks[i].of.call.messages);
        pct_free(n->stacks[i].stack.frames);
    }
    pct_free(n->stacks);
    pct_free(n->modules);
    pct_free(n->processes);
    *n = (struct pct_sent){0};
}
