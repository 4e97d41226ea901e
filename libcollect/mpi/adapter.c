/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening of an adapter: its descriptor, and the functions that an MPI must have.
 */
#include "libcollect/mpi/adapter_table.h"
#include "libcollect/mpi/adapter_want.h"

/* Functions that the adapter itself calls: an MPI that lacks one of them is not measured. */
static const uint16_t needed_ops[] = {
    PC_OP_Comm_create,
    PC_OP_Comm_group,
    PC_OP_Comm_idup,
    PC_OP_Group_free,
    PC_OP_Igatherv,
    PC_OP_Iscatterv,
    PC_OP_Test,
    PC_OP_Comm_set_errhandler,
    PC_OP_Comm_create_keyval,
    PC_OP_Comm_set_attr,
    PC_OP_Comm_rank,
    PC_OP_Comm_size,
    PC_OP_Isend,
    PC_OP_Irecv,
    PC_OP_Iallreduce,
    PC_OP_Ibcast,
    PC_OP_Type_size,
    PC_OP_Type_size_x,
    PC_OP_Type_get_envelope,
    PC_OP_Type_get_name,
    PC_OP_Comm_test_inter,
    PC_OP_Topo_test,
    PC_OP_Comm_remote_size,
    PC_OP_Get_library_version,
    PC_OP_Cart_get,
    PC_OP_Graph_neighbors_count,
    PC_OP_Dist_graph_neighbors_count,
    PC_OP_Cartdim_get,
    PC_OP_Error_class,
    PC_OP_Comm_remote_group,
    PC_OP_Group_size,
    PC_OP_Group_translate_ranks,
    PC_OP_Comm_get_parent,
};

static bool has_needed(void *const *pmpi)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(needed_ops); i++)
        if (!pmpi[needed_ops[i]])
            return false;
    return true;
}

static int open_adapter(const struct pc_core *core, const struct pc_mpi_symbols *symbols,
                        void **wrappers)
{
    if (core->abi != PC_CORE_ABI || core->size < sizeof *core)
        return PC_EVERSION;
    if (!has_needed(symbols->pmpi))
        return PC_ENOENT;
    pc_clock_init();
    int err = pc_mpi_find_data(symbols->data);
    if (err)
        return err;
    pc_core = core;
    pc_mpi = symbols->mpi;
    pc_pmpi = symbols->pmpi;
    pc_fortran = symbols->fortran;
    pc_find_data = symbols->data;
    pc_request_none(pc_requests_seen.none);
    pc_want_choose_end();
    atomic_store(&pc_requests_plain, !(core->wants & PCOLLECT_WANT_REQUEST));
    for (unsigned slot = 0; slot < PC_N_SLOTS; slot++)
        wrappers[slot] = pc_wrappers[slot];
    return 0;
}

extern const struct pc_adapter pc_adapter;
PC_EXPORT const struct pc_adapter pc_adapter = {
    .abi = PC_CORE_ABI,
    .size = sizeof(struct pc_adapter),
    .name = PC_ADAPTER_NAME,
    .n_ops = PC_N_OPS,
    .init = open_adapter,
    .comms = pc_comm_seen,
    .requests = &pc_requests_seen,
    .proc_null = MPI_PROC_NULL,
};
