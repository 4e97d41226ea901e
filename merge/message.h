/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A message of the reduction: its length (u64) in one transfer, then the bytes in pieces. It is
 * sent in pieces because a rank without memory for a message must still receive it: its sender
 * waits.
 */
#ifndef PC_MERGE_MESSAGE_H
#define PC_MERGE_MESSAGE_H

#include "base/base.h"
#include "merge/transport.h"

#include <stdint.h>

#define PC_MESSAGE_PIECE_BYTES ((size_t)64 << 10)

int pc_message_send(const struct pc_transport *t, const void *data, size_t n, int to);

/* Receives the length of the next message; pc_message_receive must follow unless it is 0. */
int pc_message_size(const struct pc_transport *t, int from, uint64_t *n_out);

/* Receives the bytes of a message; data NULL: drops them. */
int pc_message_receive(const struct pc_transport *t, void *data, uint64_t n, int from);

#endif
