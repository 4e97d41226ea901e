/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of communicators: rules of functions.tbl for the calls that make, name and free them.
 *
 * An id is the same on all members because it is a hash of facts that all members know without
 * communication: the parent's id, how many communicators all its members have made from it before,
 * and what distinguishes the siblings that one call makes. doc/internals/domains.md has the table.
 */
#ifndef PC_ADAPTER_DOMAIN_H
#define PC_ADAPTER_DOMAIN_H

#include "libcollect/mpi/adapter_comm.h"
#include "libcollect/mpi/adapter_requests.h"

/* Number that distinguishes the communicators that one collective call makes. */
enum pc_siblings {
    PC_SIBLINGS_NONE,   /* the call makes one communicator */
    PC_SIBLINGS_NUMBER, /* the number passed in, such as a colour */
    PC_SIBLINGS_FIRST   /* the first member of the new communicator */
};

/* Called by all members of `parent`. */
void pc_rule_made_comm(struct pc_call *call, MPI_Comm parent, const MPI_Comm *made,
                       enum pc_siblings siblings, int number);
/* Called only by the members of `group`. */
void pc_rule_made_by_group(struct pc_call *call, MPI_Comm parent, MPI_Group group, int tag,
                           const MPI_Comm *made);
/* Called by the members of two groups. */
void pc_rule_made_bridge(struct pc_call *call, MPI_Comm local, int tag, const MPI_Comm *made);
/* Made from a group, or two, without a parent (sessions). */
void pc_rule_made_from_group(struct pc_call *call, const char *tag, const MPI_Comm *made);
/* Made with processes outside of this world. */
void pc_rule_made_outside(struct pc_call *call, const MPI_Comm *made);
/* Reports such a call once: by the rank that is root in `comm`, or by the one process that joins.
 * `port`: a name that both jobs know, or NULL. */
void pc_rule_met_job(struct pc_call *call, MPI_Comm comm, int root, const MPI_Comm *made,
                     const char *port);
void pc_rule_joined_job(struct pc_call *call, const MPI_Comm *made);
void pc_rule_named_comm(struct pc_call *call, const char *name);
/* Sets the communicator of a call by its id. */
static inline void pc_domain_set(struct pc_call *call, uint64_t id)
{
    call->event.domain = id;
    if (PC_UNLIKELY(pc_core->wants & PCOLLECT_WANT_DOMAIN))
        pc_core->domain(call, id);
}

/* Around a call that frees a communicator. It is forgotten before the call: as soon as it is free,
 * another thread may make one with the same handle. After an error it is known again. */
void pc_watch_freed_comm(struct pc_watch *w, struct pc_call *call, const MPI_Comm *comm);
void pc_watched_freed_comm(struct pc_watch *w, struct pc_call *call, int rc);

/* Enters world and self after MPI_Init. */
void pc_domain_start(struct pc_call *call);

/* The entry of a communicator that is known to be valid: it is entered if it is unknown. */
uint32_t pc_domain_know(struct pc_call *call, MPI_Comm comm);

/* Keeps a communicator that is valid now, because an object made over it may outlive it: its world
 * ranks can be looked up as long as there is room. Returns its number. */
uint32_t pc_domain_keep(struct pc_call *call, MPI_Comm comm);

#endif
