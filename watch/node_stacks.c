/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/node_stacks.h"
#include "analysis/allocation.h"

#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

void pct_sent_texts_free(struct pct_sent_texts *t)
{
    pct_free(t->names);
    if (t->pool)
        pct_pool_free(t->pool);
    *t = (struct pct_sent_texts){0};
}

void pct_sent_teach(const struct pct_sent_texts *t, const struct pc_profile *p,
                    struct pct_symbols *s)
{
    for (uint32_t m = 0; m < p->n_modules; m++)
        for (size_t i = 0; i < t->n; i++)
            if (!strcmp(p->modules[m].path, t->names[i].module))
                pct_symbols_teach(s, m, t->names[i].offset,
                                  (struct pct_place){&t->names[i].frame, 1});
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_signed(struct pc_buffer *b, int64_t v)
{
    pc_put_varint(b, pc_zigzag((uint64_t)v));
}

void pct_sent_put_stack(struct pc_buffer *b, const struct pct_stack_modules *modules,
                        const struct pct_stack *s)
{
    pc_put_varint(b, s->cut);
    pc_put_text(b, s->mpi_folder ? s->mpi_folder : "");
    pc_put_varint(b, s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct pct_stack_frame *f = &s->frames[i];
        size_t module = 0;
        while (module < modules->n && modules->at[module] != f->module)
            module++;
        pc_put_varint(b, module < modules->n ? module + 1 : 0);
        pc_put_varint(b, f->offset);
        pc_put_varint(b, f->exact);
        pc_put_text(b, f->function ? f->function : "");
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
    pc_put_text(b, call->op ? call->op : "");
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

static void put_name(void *buffer, uint64_t offset, const struct pct_frame *frame)
{
    struct pc_buffer *b = buffer;
    pc_put_varint(b, 1);
    pc_put_varint(b, offset);
    pc_put_text(b, frame->function);
    pc_put_text(b, frame->file ? frame->file : "");
    pc_put_varint(b, frame->line);
}

static void put_names(struct pc_buffer *b, const struct pct_watch *w)
{
    pct_python_each(&w->places, put_name, b);
    pc_put_varint(b, 0);
    if (w->made)
        pct_jit_each(w->made, put_name, b);
    pc_put_varint(b, 0);
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
    pc_put_varint(b, w->modules.n);
    for (size_t i = 0; i < w->modules.n; i++) {
        const struct pct_stack_module *m = w->modules.at[i];
        pc_put_text(b, m->path);
        pc_put_varint(b, m->n_build_id);
        pc_put_bytes(b, m->build_id, m->n_build_id);
    }
    put_names(b, w);
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

static const char *get_text(struct pc_cursor *c, struct pct_sent_texts *t)
{
    uint64_t n = pc_get_varint(c);
    const uint8_t *at = pc_get_bytes(c, n);
    if (!at)
        return "";
    char *copy = pct_alloc(n + 1, 1);
    memcpy(copy, at, n);
    const char *text = pct_pool_intern(t->pool, copy);
    pct_free(copy);
    return text;
}

static void get_processes(struct pc_cursor *c, struct pct_sent_texts *t, struct pct_sent *out)
{
    out->exe = get_text(c, t);
    out->key = pc_get_le(c, 8);
    out->world = get_int(c);
    out->n_local = get_int(c);
    out->whole = pc_get_below(c, 1);
    out->n = pc_get_count(c, 3);
    out->processes = pct_alloc(out->n, sizeof *out->processes);
    for (size_t i = 0; i < out->n; i++) {
        out->processes[i].pid = get_int(c);
        out->processes[i].rank = get_int(c);
        out->processes[i].ended = pc_get_below(c, 1);
    }
}

/* The modules of the sender, as those of w. */
static const struct pct_stack_module **get_modules(struct pc_cursor *c, struct pct_watch *w,
                                                   struct pct_sent_texts *t, uint32_t *n)
{
    *n = pc_get_count(c, 2);
    const struct pct_stack_module **modules = pct_alloc(*n, sizeof *modules);
    for (uint32_t i = 0; i < *n; i++) {
        const char *path = get_text(c, t);
        uint32_t n_id = (uint32_t)pc_get_below(c, PCOLLECT_BUILD_ID_BYTES);
        const uint8_t *id = pc_get_bytes(c, n_id);
        modules[i] = pct_stack_module(&w->modules, path, id, id ? n_id : 0);
    }
    return modules;
}

static void get_names(struct pc_cursor *c, struct pct_sent_texts *t, const char *module)
{
    while (pc_get_below(c, 1) && !c->failed) {
        struct pct_sent_name name = {.module = module, .offset = pc_get_varint(c)};
        name.frame.function = get_text(c, t);
        const char *file = get_text(c, t);
        name.frame.file = *file ? file : NULL;
        name.frame.line = (uint32_t)pc_get_below(c, UINT32_MAX);
        t->names = pct_grow(t->names, t->n, &t->room, sizeof *t->names);
        t->names[t->n++] = name;
    }
}

static void get_comms(struct pc_cursor *c, struct pct_comm_places *comms)
{
    uint32_t n = pc_get_count(c, 4);
    for (uint32_t i = 0; i < n; i++) {
        struct pct_comm_place p = {.id = pc_get_varint(c)};
        p.world = get_int(c);
        p.rank = get_int(c);
        p.size = get_int(c);
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

static void get_call(struct pc_cursor *c, struct pct_sent_texts *t, struct pct_mpi_call *call)
{
    const char *op = get_text(c, t);
    call->op = *op ? op : NULL;
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

static void get_stack(struct pc_cursor *c, struct pct_sent_texts *t,
                      const struct pct_stack_module **modules, uint32_t n_modules,
                      struct pct_stack *s)
{
    s->cut = pc_get_below(c, 1);
    const char *folder = get_text(c, t);
    s->mpi_folder = *folder ? folder : NULL;
    s->n = pc_get_count(c, 4);
    if (s->n > PCT_STACK_FRAMES)
        c->failed = true;
    s->n = c->failed ? 0 : s->n;
    s->frames = pct_alloc(s->n, sizeof *s->frames);
    for (size_t i = 0; i < s->n; i++) {
        struct pct_stack_frame *f = &s->frames[i];
        uint64_t module = pc_get_below(c, n_modules);
        f->module = module ? modules[module - 1] : NULL;
        f->offset = pc_get_varint(c);
        f->exact = pc_get_below(c, 1);
        const char *function = get_text(c, t);
        f->function = *function ? function : NULL;
    }
}

static void get_stacks(struct pc_cursor *c, struct pct_sent_texts *t,
                       const struct pct_stack_module **modules, uint32_t n_modules,
                       struct pct_sent *out)
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
        get_call(c, t, &s->call);
    }
    for (size_t i = 0; i < out->n_stacks; i++) {
        struct pct_sent_stack *s = &out->stacks[i];
        get_stack(c, t, modules, n_modules, &s->stack);
        s->stack.op = s->of.call.op;
    }
}

bool pct_sent_get(struct pc_cursor *c, struct pct_watch *w, struct pct_sent_texts *t,
                  struct pct_sent *out)
{
    uint32_t n_modules;
    if (!t->pool)
        t->pool = pct_pool_new();
    *out = (struct pct_sent){0};
    get_processes(c, t, out);
    const struct pct_stack_module **modules = get_modules(c, w, t, &n_modules);
    get_names(c, t, PCOLLECT_MODULE_PYTHON);
    get_names(c, t, PCOLLECT_MODULE_JIT);
    get_comms(c, &w->comms);
    out->n_other = (uint32_t)pc_get_below(c, UINT32_MAX);
    out->n_lost = (uint32_t)pc_get_below(c, UINT32_MAX);
    get_stacks(c, t, modules, n_modules, out);
    pct_free(modules);
    return !c->failed && c->at == c->end;
}

void pct_sent_free(struct pct_sent *n)
{
    for (size_t i = 0; i < n->n_stacks; i++) {
        pct_free(n->stacks[i].of.call.messages);
        pct_free(n->stacks[i].stack.frames);
    }
    pct_free(n->stacks);
    pct_free(n->processes);
    *n = (struct pct_sent){0};
}
