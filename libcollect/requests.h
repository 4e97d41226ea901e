/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout of the remembered requests (doc/internals/requests.md): adapters keep them, and `pcollect
 * where` reads them from outside. libcollect/mpi/adapter_table.h has the rules of their life.
 *
 *   front    a table in which the hash of a handle selects its only possible record
 *   tree     all others: a radix tree over the handle's bits leads to a word, the word to a record
 *
 * In the tree:
 *
 *   key      48 bits of the handle; less the low bits in which two living requests cannot differ
 *            (the shift) it is three digits of 14 bits: root, middle, leaf
 *   word     8 bits of a tag above 24 bits of the record's number; 0: nothing is known
 *   record   struct pc_request, in chunks that never move
 */
#ifndef PC_REQUESTS_H
#define PC_REQUESTS_H

#include "libcollect/adapter.h"

#include <stdatomic.h>

enum {
    PC_REQUEST_LINKED = 1,
    PC_REQUEST_ACTIVE = 2,      /* an operation is under way */
    PC_REQUEST_PERSISTENT = 4,  /* stays after completion */
    PC_REQUEST_RECEIVE = 8,     /* a receive, with an envelope until its bytes are known */
    PC_REQUEST_MESSAGE = 16,    /* a send to a rank, where plugins want peers; with an envelope */
    PC_REQUEST_READ = 32,       /* a read of a file: its status has no cancelled flag */
    PC_REQUEST_MATCHED = 64,    /* a receive of a message that was matched before */
    PC_REQUEST_DISPLACED = 128, /* its handle was given out again (adapter_table.h, rule 6) */
    PC_REQUEST_START = 256      /* persistent: lowest bit of a count of starts */
};

struct pc_request {
    /* The handle; in the front with a tag above it. A free record of the tree has links to other
     * free records (adapter_table.c); a free record of the front has handle 0. */
    _Atomic uint64_t key;
    struct pc_start start;
    uint32_t word; /* in the tree: the word that links it, or did last; displaced: a link */
    _Atomic uint32_t flags; /* 0: free; in the front: those of the last request */
};

_Static_assert(sizeof(struct pc_request) == 64, "a record is a cache line");

#define PC_REQUEST_DIGIT 14
#define PC_REQUEST_FANOUT ((size_t)1 << PC_REQUEST_DIGIT)
#define PC_REQUEST_TAG_SHIFT 24
#define PC_REQUEST_NUMBER ((UINT32_C(1) << PC_REQUEST_TAG_SHIFT) - 1)
#define PC_REQUEST_FRONT_BITS 10
#define PC_REQUEST_FRONT (1u << PC_REQUEST_FRONT_BITS)
#define PC_REQUEST_HANDLE ((UINT64_C(1) << 48) - 1) /* handle in a key of the front */

enum {
    PC_REQUEST_CHUNK = 1024, /* records */
    PC_REQUEST_CHUNKS = (1 << PC_REQUEST_TAG_SHIFT) / PC_REQUEST_CHUNK
};

typedef _Atomic uint32_t pc_request_word;

struct pc_request_middle {
    _Atomic(pc_request_word *) leaves[PC_REQUEST_FANOUT];
};

struct pc_request_root {
    _Atomic(struct pc_request_middle *) middles[PC_REQUEST_FANOUT];
    _Atomic(struct pc_request *) chunks[PC_REQUEST_CHUNKS]; /* by number / PC_REQUEST_CHUNK */
};

/* The number of the only record of the front that a handle can have. */
static inline uint32_t pc_request_place(uint64_t handle, unsigned shift)
{
    uint32_t hash = (uint32_t)(handle >> shift) * UINT32_C(0x9e3779b1);
    return hash >> (32 - PC_REQUEST_FRONT_BITS);
}

/* Digit 2 is that of the root, digit 0 that of the leaf. */
static inline uint32_t pc_request_digit(uint64_t key, unsigned shift, unsigned k)
{
    return (uint32_t)(key >> (shift + k * PC_REQUEST_DIGIT)) & ((uint32_t)PC_REQUEST_FANOUT - 1);
}

/* Addresses of the tables, for readers from outside. They are written when the adapter is opened.
 */
struct pc_seen_requests {
    uint32_t handle_bytes; /* of an MPI_Request */
    uint32_t shift;
    uint64_t least;   /* smaller handles are null, or stand for operations that are complete */
    uint64_t none[2]; /* these handles as well */
    const struct pc_request *front;
    _Atomic(struct pc_request_root *) *root;
};

#endif
