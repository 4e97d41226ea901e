/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI functions by number, as the rest of the library knows them: the table of libcollect/mpi, by
 * name and class.
 */
#ifndef PC_OPS_H
#define PC_OPS_H

#include "base/base.h"

/* One row of functions.tbl; made by generate.awk, indexed by op. */
struct pc_op_row {
    const char *name; /* "MPI_Send" */
    uint16_t op_class;
    bool fortran; /* it has stubs for its Fortran names */
};
extern const struct pc_op_row pc_op_rows[];

/* Name of an op; NULL if it is out of range. */
const char *pc_op_name(uint16_t op);
uint16_t pc_op_class(uint16_t op);

#endif
