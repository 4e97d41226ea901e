/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types of MPI-4.0 that an older mpi.h lacks, so that every row of functions.tbl can be written as
 * C with any mpi.h. The functions that take them are missing in that MPI as well: their wrappers
 * are compiled, and never called. Included after mpi.h, by adapters and by the check of prototypes.
 * Configure looks for them (m4/pcollect.m4).
 */
#ifndef PC_ADAPTER_TYPES_MISSING_H
#define PC_ADAPTER_TYPES_MISSING_H

#include "config.h"

#ifndef MPI_SESSION_NULL
typedef void *MPI_Session;
typedef void(MPI_Session_errhandler_function)(MPI_Session *, int *, ...);
#endif

#if defined OPEN_MPI ? !defined OPENMPI_HAS_EVENTS : !defined MPICH_HAS_EVENTS
typedef void *MPI_T_event_registration;
typedef void *MPI_T_event_instance;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;
typedef void(MPI_T_event_cb_function)(MPI_T_event_instance, MPI_T_event_registration,
                                      MPI_T_cb_safety, void *);
typedef void(MPI_T_event_free_cb_function)(MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void(MPI_T_event_dropped_cb_function)(MPI_Count, MPI_T_event_registration, int,
                                              MPI_T_cb_safety, void *);
#endif

#if defined OPEN_MPI ? !defined OPENMPI_HAS_LARGE_COUNTS : !defined MPICH_HAS_LARGE_COUNTS
typedef void(MPI_User_function_c)(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int(MPI_Datarep_conversion_function_c)(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset,
                                               void *);
#endif

#endif
