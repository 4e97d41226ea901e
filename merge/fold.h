/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Contexts that a profile does not keep apart: if the ranks of a job have more contexts than
 * `[output] contexts`, those with least time in the job are folded, before profiles are merged. The
 * records of a rank that are folded are added up, by primitive and communicator, in a FRAME without
 * module (PC_NODE_FOLDED) below their innermost ancestor that stays, but below no frame of which
 * only this rank has records. So all sums stay exact, and few records are made in this way.
 *
 * Which records are folded follows from the counts of the job (record_counts.h), so that the order
 * of merging does not show. Used by reduce.c and files.c. Nothing here is AS-safe.
 */
#ifndef PC_MERGE_FOLD_H
#define PC_MERGE_FOLD_H

#include "merge/record_counts.h"

/* Folds the records of an arena's profile that are marked in the counts, and have no lists. keys
 * are those of its records. PC_ENOMEM: p cannot be used. */
int pc_fold(struct pc_profile *p, const struct pc_record_counts *c, const uint64_t *keys);

/* Folds records of a profile that was read with pc_pcol_read_columns, until `most` are left: of
 * those that only one rank has the ones with least time, whatever the number of the others. What is
 * added up has the values of its ranks, so that all its figures are exact. *n_out: calls and places
 * of samples that were folded. PC_ENOMEM: p cannot be used. */
int pc_fold_own(struct pc_profile *p, uint32_t most, uint32_t *n_out);

#endif
