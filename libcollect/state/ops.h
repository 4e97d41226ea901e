/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI functions by number and by name, as all code outside of libcollect/mpi knows them: name,
 * class and traits, of its table. The command has it too: a profile has functions by name.
 */
#ifndef PC_OPS_H
#define PC_OPS_H

#include "base/base.h"

/* One row of functions.tbl; made by generate.awk, indexed by op. */
struct pc_op_row {
    const char *name; /* "MPI_Send" */
    uint16_t op_class;
    bool fortran;    /* it has stubs for its Fortran names */
    uint32_t traits; /* enum pcollect_trait */
};
extern const struct pc_op_row pc_op_rows[];
extern const uint16_t pc_ops_by_name[]; /* in the order of strcmp */

/* Name of an op; NULL if it is out of range. AS-safe, MT-safe. */
const char *pc_op_name(uint16_t op);
uint16_t pc_op_class(uint16_t op);
uint32_t pc_op_traits(uint16_t op);

/* The function of this name; NULL: it is not in the table. MT-safe. */
const struct pc_op_row *pc_op_find(const char *name);

/* Traits of the function of this name; 0 if it is not in the table. MT-safe. */
uint32_t pc_op_traits_of(const char *name);

#endif
