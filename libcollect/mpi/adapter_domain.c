/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ids of communicators (adapter_domain.h): made where communicators are made, without a message.
 * Called by the wrappers after the real call.
 */
#include "libcollect/mpi/adapter_domain.h"

#include "libcollect/mpi/adapter_names.h"

/* Communicators beyond this number from one parent share one id: otherwise a program that makes a
 * communicator in every step would fill the arena with them. */
enum { MAX_MADE = 1024, N_COUNTERS = 4096 };

/* Communicators whose chain of parents is longer than this share one id, too; all members know the
 * depth of the parent. */
enum { MAX_DEPTH = 64 };

/* Counts the communicators of this key in this process; 0 if there is no room to count. */
static uint32_t count_made(uint64_t key)
{
    static _Atomic uint64_t keys[N_COUNTERS];
    static _Atomic uint32_t counts[N_COUNTERS];
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t place = (uint32_t)(key + i) % N_COUNTERS;
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&keys[place], &there, key) || there == key) {
            uint32_t n = atomic_fetch_add(&counts[place], 1) + 1;
            return n < MAX_MADE ? n : MAX_MADE;
        }
    }
    return 0;
}

/* Tells of a change; d has the id, and when the communicator was made. */
static void tell_of(struct pc_call *call, enum pcollect_domain_change change,
                    struct pcollect_domain *d)
{
    d->size = sizeof *d;
    d->change = (uint16_t)change;
    d->op = call->event.op;
    d->now = call->event.end;
    pc_core->tell_domain(call, d);
}

static void tell(struct pc_call *call, enum pcollect_domain_change change, uint32_t number,
                 struct pcollect_domain *d)
{
    struct pc_comm *c = pc_comm_at(number);
    d->id = c->id;
    d->made = atomic_load_explicit(&c->made, memory_order_relaxed);
    tell_of(call, change, d);
}

static int32_t first_of(MPI_Comm comm, bool remote)
{
    MPI_Group group;
    int rc = remote ? PC_REAL(Comm_remote_group)(comm, &group) : PC_REAL(Comm_group)(comm, &group);
    if (rc != MPI_SUCCESS)
        return PCOLLECT_RANK_NONE;
    int32_t world = pc_comm_group_rank(group, 0);
    PC_REAL(Group_free)(&group);
    return world;
}

/* Puts the larger side first: if both sides are in this world, they give equal rows. */
static void read_sizes(MPI_Comm comm, bool is_inter, struct pcollect_domain *d)
{
    PC_REAL(Comm_size)(comm, &d->n_local);
    if (is_inter)
        PC_REAL(Comm_remote_size)(comm, &d->n_remote);
    if (d->n_remote > d->n_local && first_of(comm, true) >= 0) {
        int32_t larger = d->n_remote;
        d->n_remote = d->n_local;
        d->n_local = larger;
    }
}

/* Tells the plugins of a communicator of the table. `like` has its size, and this process the same
 * rank in it. */
static void announce(struct pc_call *call, uint32_t number, MPI_Comm like, uint64_t parent,
                     const char *name)
{
    struct pc_comm *c = pc_comm_at(number);
    struct pcollect_domain d = {
        .parent = parent, .name = name, .as_world = c->flags & PC_COMM_AS_WORLD ? 1 : 0};
    atomic_store_explicit(&c->made, call->event.end, memory_order_relaxed);
    read_sizes(like, c->flags & PC_COMM_IS_INTER, &d);
    PC_REAL(Comm_rank)(like, &d.rank);
    if (!(c->flags & PC_COMM_IS_INTER))
        pc_comm_show(number, d.rank, d.n_local);
    tell(call, PCOLLECT_DOMAIN_MADE, number, &d);
}

void pc_domain_start(struct pc_call *call)
{
    if (!(pc_core->wants & PC_WANTS_COMM) || !pc_comm_start())
        return;
    announce(call, PC_COMM_WORLD, MPI_COMM_WORLD, 0, "MPI_COMM_WORLD");
    announce(call, PC_COMM_SELF, MPI_COMM_SELF, 0, "MPI_COMM_SELF");
}

/* Two communicators of one group that no measured call has made share an id, because nothing
 * distinguishes them. */
uint32_t pc_domain_know(struct pc_call *call, MPI_Comm comm)
{
    uint32_t number = pc_comm_find(comm);
    if (number || comm == MPI_COMM_NULL || !pc_comm_has_started() || pc_comm_are_full())
        return number;
    bool inter = pc_comm_is_inter(comm);
    number = pc_comm_enter(comm, pc_comm_id_of("unknown"), inter ? PC_COMM_IS_INTER : 0);
    if (!number)
        return PC_COMM_NONE;
    struct pc_comm *c = pc_comm_at(number);
    c->id = pc_comm_mix(c->id, pc_comm_hash_members(comm));
    announce(call, number, comm, 0, NULL);
    return number;
}

uint32_t pc_domain_keep(struct pc_call *call, MPI_Comm comm)
{
    uint32_t number = pc_domain_know(call, comm);
    if (!number)
        return PC_COMM_NONE;
    pc_comm_note_posted(number);
    if (pc_core->wants & PCOLLECT_WANT_PEERS)
        pc_comm_take_group(number, comm);
    return number;
}

static bool is_wanted(const MPI_Comm *made)
{
    return pc_core->wants & PC_WANTS_COMM && made && pc_comm_has_started();
}

/* Enters a communicator and tells of it; `like` and `flags` say what it is. */
static uint32_t enter_as(struct pc_call *call, MPI_Comm made, MPI_Comm like, uint64_t id,
                         uint64_t parent, uint32_t flags)
{
    uint32_t number = pc_comm_enter(made, id, flags);
    if (number)
        announce(call, number, like, parent, NULL);
    else
        pc_core->lost(PCOLLECT_LOST_ROWS, 1);
    return number;
}

static uint32_t enter(struct pc_call *call, MPI_Comm made, uint64_t id, uint64_t parent)
{
    return enter_as(call, made, made, id, parent, pc_comm_is_inter(made) ? PC_COMM_IS_INTER : 0);
}

/* Least member; of an intercommunicator the lower of both sides. */
static uint64_t first_member(MPI_Comm comm)
{
    int32_t first = first_of(comm, false);
    if (pc_comm_is_inter(comm)) {
        int32_t other = first_of(comm, true);
        first = other < first ? other : first;
    }
    return (uint32_t)first;
}

/* True if the call makes a communicator that has the parent's members in the parent's order. */
static bool is_copy(uint16_t op, enum pc_siblings siblings)
{
    return siblings == PC_SIBLINGS_NONE &&
           (op == PC_OP_Comm_dup || op == PC_OP_Comm_idup || op == PC_OP_Comm_dup_with_info ||
            op == PC_OP_Comm_idup_with_info);
}

void pc_rule_made_comm(struct pc_call *call, MPI_Comm parent, const MPI_Comm *made,
                       enum pc_siblings siblings, int number)
{
    if (!is_wanted(made))
        return;
    uint32_t from = pc_domain_know(call, parent);
    if (!from)
        return;
    struct pc_comm *p = pc_comm_at(from);
    uint32_t n = atomic_fetch_add(&p->n_made, 1) + 1;
    uint64_t id = pc_comm_mix(p->id, n < MAX_MADE ? n : MAX_MADE);
    if (*made == MPI_COMM_NULL)
        return;
    if (siblings == PC_SIBLINGS_NUMBER)
        id = pc_comm_mix(id, (uint32_t)number);
    if (siblings == PC_SIBLINGS_FIRST)
        id = pc_comm_mix(id, first_member(*made));
    uint32_t depth = p->depth + 1;
    if (depth > MAX_DEPTH)
        id = depth == MAX_DEPTH + 1 ? pc_comm_mix(p->id, pc_comm_id_of("deeper")) : p->id;
    /* Asks the parent about a copy: MPI_Comm_idup may not have finished it. */
    uint32_t alike = p->flags & (PC_COMM_AS_WORLD | PC_COMM_IS_INTER);
    uint32_t made_number = is_copy(call->event.op, siblings)
                               ? enter_as(call, *made, parent, id, p->id, alike)
                               : enter(call, *made, id, p->id);
    if (made_number)
        pc_comm_at(made_number)->depth = depth < MAX_DEPTH + 2 ? depth : MAX_DEPTH + 2;
}

void pc_rule_made_by_group(struct pc_call *call, MPI_Comm parent, MPI_Group group, int tag,
                           const MPI_Comm *made)
{
    if (!is_wanted(made) || *made == MPI_COMM_NULL)
        return;
    uint32_t from = pc_domain_know(call, parent);
    uint64_t parent_id = from ? pc_comm_at(from)->id : pc_comm_id_of("unknown");
    uint64_t id = pc_comm_mix(parent_id, (uint32_t)tag);
    id = pc_comm_mix(id, pc_comm_hash_group(group));
    enter(call, *made, pc_comm_mix(id, count_made(id)), parent_id);
}

void pc_rule_made_bridge(struct pc_call *call, MPI_Comm local, int tag, const MPI_Comm *made)
{
    if (!is_wanted(made) || *made == MPI_COMM_NULL)
        return;
    uint32_t from = pc_domain_know(call, local);
    uint64_t id = pc_comm_mix(pc_comm_id_of("bridge"), (uint32_t)tag);
    id = pc_comm_mix(id, pc_comm_hash_members(*made));
    enter(call, *made, pc_comm_mix(id, count_made(id)), from ? pc_comm_at(from)->id : 0);
}

void pc_rule_made_from_group(struct pc_call *call, const char *tag, const MPI_Comm *made)
{
    if (!is_wanted(made) || *made == MPI_COMM_NULL)
        return;
    uint64_t id = pc_comm_mix(pc_comm_id_of(tag ? tag : ""), pc_comm_hash_members(*made));
    enter(call, *made, pc_comm_mix(id, count_made(id)), 0);
}

/* All members of `parent` make this call together; the other processes belong to another world and
 * another profile. */
void pc_rule_made_outside(struct pc_call *call, const MPI_Comm *made)
{
    if (!is_wanted(made) || *made == MPI_COMM_NULL || pc_comm_find(*made))
        return;
    uint64_t id = pc_comm_mix(pc_comm_id_of("outside"), pc_comm_hash_members(*made));
    enter(call, *made, pc_comm_mix(id, count_made(id)), 0);
}

/* The id of a communicator; 0: the plugins want none, or there was no room. */
static uint64_t id_of(const MPI_Comm *made)
{
    uint32_t number = is_wanted(made) ? pc_comm_find(*made) : PC_COMM_NONE;
    return number ? pc_comm_at(number)->id : 0;
}

/* Relations of this job to others are reported whatever plugins want. */
void pc_rule_met_job(struct pc_call *call, MPI_Comm comm, int root, const MPI_Comm *made,
                     const char *port)
{
    int rank;
    struct pc_meeting met = {.port = port};
    if (!made || *made == MPI_COMM_NULL || PC_REAL(Comm_rank)(comm, &rank) != MPI_SUCCESS ||
        rank != root)
        return;
    PC_REAL(Comm_size)(*made, &met.n_local);
    PC_REAL(Comm_remote_size)(*made, &met.n_remote);
    met.domain = id_of(made);
    pc_core->met_job(call, &met);
}

void pc_rule_joined_job(struct pc_call *call, const MPI_Comm *made)
{
    if (made && *made != MPI_COMM_NULL)
        pc_core->met_job(call, &(struct pc_meeting){1, 1, NULL, id_of(made)});
}

void pc_rule_named_comm(struct pc_call *call, const char *name)
{
    static struct pc_name_set names;
    if (!(pc_core->wants & PC_WANTS_COMM) || !call->comm || !name)
        return;
    struct pcollect_domain d = {
        .name = pc_name_is_kept(&names, name) ? name : "(other communicators)", .rank = -1};
    tell(call, PCOLLECT_DOMAIN_NAMED, call->comm, &d);
}

void pc_watch_freed_comm(struct pc_watch *w, struct pc_call *call, const MPI_Comm *comm)
{
    bool known = pc_core->wants & PC_WANTS_COMM && comm;
    uint32_t number = known ? pc_comm_find(*comm) : PC_COMM_NONE;
    (void)call;
    w->freed = (struct pc_freed_comm){0};
    if (!number || pc_comm_is_predefined(number))
        return;
    const struct pc_comm *c = pc_comm_at(number);
    w->freed =
        (struct pc_freed_comm){number, c->id, atomic_load_explicit(&c->made, memory_order_relaxed)};
    pc_comm_drop(number);
}

void pc_watched_freed_comm(struct pc_watch *w, struct pc_call *call, int rc)
{
    const struct pc_freed_comm *freed = &w->freed;
    call->handle = 0; /* the end of the call must not use it */
    if (!freed->number)
        return;
    pc_domain_set(call, freed->id);
    if (rc != MPI_SUCCESS) {
        pc_comm_restore(freed->number);
        return;
    }
    pc_comm_hide(freed->number);
    struct pcollect_domain d = {.rank = -1, .id = freed->id, .made = freed->made};
    tell_of(call, PCOLLECT_DOMAIN_FREED, &d);
}
