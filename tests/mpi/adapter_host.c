/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host of adapter_host.h: linked with the stubs and the resolver into a library for LD_PRELOAD.
 * ADAPTER_DIR names the folder of the adapters; with ADAPTER_OUT a list "op calls sent received"
 * goes to that file and the rank's number, at the end. ADAPTER_WANTS is the set of events that
 * plugins request.
 */
#include "tests/mpi/adapter_host.h"

#include "libcollect/mpi/mpi_private.h"
#include "libcollect/state/core.h"
#include "libcollect/state/ops.h"
#include "libcollect/walk/loadmap.h"
#include "merge/ending.h"

#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_OPS 1024
#define MAX_MODULES 512

PC_EXPORT adapter_host_look_fn adapter_host_look;
PC_EXPORT adapter_host_count_fn adapter_host_count;

static pc_core_is_counted_fn *is_counted;

void pc_core_set_counted(pc_core_is_counted_fn *by)
{
    is_counted = by;
}

struct pc_thread {
    char slot[64];
    uint32_t number;
    struct adapter_seen last;
};

static struct {
    _Atomic uint64_t calls, sent, received, completions, lost_receives, n_threads;
    _Atomic uint64_t ended[6], wait_sum;
    _Atomic uint32_t init_begins, init_ends, finalize_begins, finalize_ends, merges;
    struct {
        _Atomic uint64_t calls, sent, received;
    } op[MAX_OPS];
    _Atomic uint16_t op_of_node[1 << 20];
    int rank;
} host;

static __thread struct pc_thread *self;

/* ---- Load map: a table of what dl_iterate_phdr says --------------------------------------- */

_Atomic uint32_t pc_loadmap_generation;
static struct pc_module modules[MAX_MODULES];
static int n_modules;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
static pc_loadmap_is_mpi_fn is_mpi;

void pc_loadmap_set_is_mpi(pc_loadmap_is_mpi_fn fn)
{
    is_mpi = fn;
}

static struct pc_module *module_of(const struct dl_phdr_info *info)
{
    uintptr_t lo = UINTPTR_MAX, hi = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        lo = start < lo ? start : lo;
        hi = start + p->p_memsz > hi ? start + p->p_memsz : hi;
    }
    for (int i = 0; i < n_modules; i++)
        if (modules[i].lo == lo && strcmp(modules[i].path, info->dlpi_name) == 0)
            return &modules[i];
    if (n_modules == MAX_MODULES)
        abort();
    struct pc_module *m = &modules[n_modules++];
    m->bias = info->dlpi_addr;
    m->lo = lo & ~(uintptr_t)4095;
    m->hi = hi;
    snprintf(m->path, sizeof m->path, "%s", info->dlpi_name);
    return m;
}

struct each {
    int (*fn)(struct pc_module *, void *);
    void *arg;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct each *e = arg;
    (void)size;
    return e->fn(module_of(info), e->arg);
}

int pc_loadmap_each(int (*fn)(struct pc_module *module, void *arg), void *arg)
{
    struct each e = {fn, arg};
    pthread_mutex_lock(&modules_lock);
    int rc = dl_iterate_phdr(visit, &e);
    pthread_mutex_unlock(&modules_lock);
    return rc;
}

struct lookup {
    uintptr_t pc;
    struct pc_module *found;
};

static int holds(struct pc_module *module, void *arg)
{
    struct lookup *l = arg;
    if (l->pc < module->lo || l->pc >= module->hi)
        return 0;
    l->found = module;
    return 1;
}

void pc_loadmap_prepare(uintptr_t pc)
{
    (void)pc;
}

struct pc_module *pc_loadmap_find(uintptr_t pc)
{
    struct lookup l = {pc, NULL};
    pc_loadmap_each(holds, &l);
    return l.found;
}

/* ---- Core ----------------------------------------------------------------------------------- */

static bool begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret)
{
    (void)cfa;
    if (!is_counted(slot, ret))
        return false;
    if (!self) {
        self = calloc(1, sizeof *self);
        self->number = (uint32_t)host.n_threads++;
    }
    memset(&call->event, 0, sizeof call->event);
    call->event.op = PC_SLOT_OP(slot);
    call->event.peer = call->event.root = call->event.tag = -1;
    call->thread = self;
    call->depth = call->epoch = 0;
    call->node = (pcollect_ref)++host.calls;
    host.op_of_node[call->node % (1 << 20)] = call->event.op;
    return true;
}

static void pre(struct pc_call *call)
{
    (void)call;
}

static void end(struct pc_call *call)
{
    const struct pcollect_event *e = &call->event;
    struct adapter_seen *s = &call->thread->last;
    s->sent = e->bytes_sent;
    s->received = e->bytes_received;
    s->peer = e->peer;
    s->root = e->root;
    s->tag = e->tag;
    s->result = e->result;
    s->node = call->node;
    s->call_ticks = e->end - e->begin;
    snprintf(s->op, sizeof s->op, "%s", pc_op_name(e->op));
    host.op[e->op].calls++;
    host.op[e->op].sent += e->bytes_sent;
    host.op[e->op].received += e->bytes_received;
    host.sent += e->bytes_sent;
    host.received += e->bytes_received;
    if (e->end < e->begin)
        abort();
}

static void met_job(struct pc_call *call, const struct pc_meeting *met)
{
    (void)call, (void)met;
}

static void complete(struct pc_call *by, const struct pc_start *start, uint64_t bytes_received,
                     uint64_t domain, int32_t world_source)
{
    (void)domain;
    (void)world_source;
    const struct pc_origin *o = &start->origin;
    by->thread->last.completed_node = o->node;
    by->thread->last.completed_bytes = bytes_received;
    host.completions++;
    host.received += bytes_received;
    host.op[host.op_of_node[o->node % (1 << 20)]].received += bytes_received;
}

static void ended(struct pc_call *by, const struct pc_start *start, enum pcollect_how how,
                  uint64_t wait)
{
    struct adapter_seen *s = &self->last;
    host.ended[how]++;
    host.wait_sum += wait;
    s->ended_start = start->origin.node;
    s->ended_end = by ? by->node : 0;
    s->ended_sent = start->bytes_sent;
    s->ended_received = start->bytes_received;
    if (by && start->begin > by->event.end)
        abort();
}

static uint64_t mpi_ticks(const struct pc_thread *thread)
{
    (void)thread;
    return 0;
}

static void lost(enum pcollect_lost what, uint64_t n)
{
    if (what == PCOLLECT_LOST_RECEIVES)
        host.lost_receives += n;
}

static void *memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void control(int level)
{
    (void)level;
}

static void init_begin(void)
{
    host.init_begins++;
}

static void init_end(const struct pc_transport *t, const char *mpi)
{
    host.init_ends++;
    host.rank = t->rank;
    if (!mpi[0])
        abort();
}

static void finalize_begin(void)
{
    host.finalize_begins++;
}

static void alive(void)
{
}

static void write_list(void)
{
    char path[4096];
    const char *out = getenv("ADAPTER_OUT");
    if (!out)
        return;
    snprintf(path, sizeof path, "%s.%d", out, host.rank);
    FILE *f = fopen(path, "w");
    for (unsigned i = 0; f && pc_op_name((uint16_t)i); i++)
        if (host.op[i].calls)
            fprintf(f, "%s %lu %lu %lu\n", pc_op_name((uint16_t)i), (unsigned long)host.op[i].calls,
                    (unsigned long)host.op[i].sent, (unsigned long)host.op[i].received);
    if (f)
        fclose(f);
}

/* Sums the ranks over the transport, as a merge does: messages of several lengths, 0 included. */
static void merge(const struct pc_transport *t)
{
    uint64_t key = t->rank == 0 ? 4711 : 0;
    const struct pc_guest guest = {.limit_ms = 60000};
    struct pc_route route;
    bool tells;
    host.merges++;
    write_list();
    if (pc_meet(t, &guest, &route, &tells) != 0 ||
        t->broadcast(t->self, &key, sizeof key, 0) != 0 || key != 4711)
        abort();
    for (int from = 1; t->rank == 0 && from < t->n_ranks; from++) {
        size_t n = 1;
        if (t->receive_size(t->self, from, &n) != 0 || n != (size_t)(from - 1) * 1000)
            abort();
        unsigned char *data = malloc(n + 1);
        if (t->receive(t->self, data, n, from) != 0)
            abort();
        for (size_t i = 0; i < n; i++)
            if (data[i] != (unsigned char)(i + (size_t)from))
                abort();
        free(data);
    }
    if (t->rank != 0) {
        size_t n = (size_t)(t->rank - 1) * 1000;
        unsigned char *data = malloc(n + 1);
        for (size_t i = 0; i < n; i++)
            data[i] = (unsigned char)(i + (size_t)t->rank);
        if (t->send(t->self, data, n, 0) != 0)
            abort();
        free(data);
    }
}

static void finalize_end(uint64_t ticks)
{
    (void)ticks;
    host.finalize_ends++;
}

/* Nothing is followed: collection is never off. */
static bool follow(struct pc_call *call)
{
    (void)call;
    return false;
}

static void unfollow(struct pc_call *call)
{
    (void)call;
}

const struct pc_core *pc_core_table(void)
{
    static struct pc_core core = {
        .abi = PC_CORE_ABI,
        .size = sizeof core,
        .begin = begin,
        .pre = pre,
        .end = end,
        .begin_quiet = begin,
        .end_quiet = end,
        .follow = follow,
        .unfollow = unfollow,
        .stand_in = follow,
        .met_job = met_job,
        .complete = complete,
        .ended = ended,
        .mpi_ticks = mpi_ticks,
        .lost = lost,
        .memory = memory,
        .thread_slot = offsetof(struct pc_thread, slot),
        .control = control,
        .init_begin = init_begin,
        .init_end = init_end,
        .finalize_begin = finalize_begin,
        .alive = alive,
        .merge = merge,
        .finalize_end = finalize_end,
    };
    const char *wants = getenv("ADAPTER_WANTS");
    if (wants)
        core.wants = strtoull(wants, NULL, 10);
    core.asks = core.asks_quiet = core.wants != 0;
    return &core;
}

bool pc_core_start(void)
{
    return getenv("ADAPTER_OFF") == NULL;
}

bool pc_core_refused(void)
{
    return false;
}

void pc_core_abandon(void)
{
}

void pc_core_complain(const char *format, ...)
{
    char text[900];
    va_list args;
    va_start(args, format);
    pc_vformat(text, sizeof text, format, args);
    va_end(args);
    pc_log("%s", text);
}

bool pc_core_module_path(const char *name, char *out, size_t n)
{
    const char *dir = getenv("ADAPTER_DIR");
    return snprintf(out, n, "%s/%s", dir ? dir : ".", name) < (int)n;
}

/* ---- For the program ------------------------------------------------------------------------ */

void adapter_host_look(struct adapter_seen *out)
{
    static const struct adapter_seen none;
    *out = self ? self->last : none;
    out->calls = host.calls;
    out->completions = host.completions;
    out->all_sent = host.sent;
    out->all_received = host.received;
    out->lost_receives = host.lost_receives;
    for (int i = 0; i < 6; i++)
        out->ended[i] = host.ended[i];
    out->wait_sum = host.wait_sum;
    out->init_begins = host.init_begins;
    out->init_ends = host.init_ends;
    out->finalize_begins = host.finalize_begins;
    out->finalize_ends = host.finalize_ends;
    out->merges = host.merges;
}

uint64_t adapter_host_count(const char *op)
{
    const char *name;
    for (unsigned i = 0; (name = pc_op_name((uint16_t)i)); i++)
        if (strcmp(name, op) == 0)
            return host.op[i].calls;
    return 0;
}
