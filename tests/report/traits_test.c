/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command knows of MPI functions by their names: traits of the table of libcollect/mpi.
 */
#include "analysis/tree/totals.h"
#include "include/pcollect/plugin.h"
#include "libcollect/state/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void calls_that_only_ask_wait_for_nobody(void **state)
{
    static const struct {
        const char *name;
        bool waits;
    } rows[] = {{"MPI_Finalize", true},
                {"MPI_Initialized", false},
                {"MPI_Comm_size", false},
                {"MPI_Comm_split", true},
                {"MPI_Comm_free", true},
                {"MPI_Get_count_c", false},
                {"MPI_Status_get_source", false},
                {"MPI_Test", true},
                {"MPI_Op_free", false},
                {"MPI_Reduce", true},
                {"MPI_Reduce_local", false},
                {"MPI_Session_attach_buffer_c", false},
                {"MPI_Cart_create", true},
                {"MPI_Cart_coords", false},
                {"MPI_Get", true},
                {"MPI_Win_attach", false},
                {"MPI_File_read", false},
                {"MPI_File_read_all", true},
                {"MPI_File_set_info", true},
                {"size", true},
                {"_c", true}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        if (pct_op_may_wait(rows[i].name) != rows[i].waits)
            fail_msg("%s: %d", rows[i].name, !rows[i].waits);
}

static void each_function_is_found_by_its_name(void **state)
{
    uint16_t n = 0;
    (void)state;
    for (; pc_op_name(n); n++)
        assert_ptr_equal(pc_op_find(pc_op_name(n)), &pc_op_rows[n]);
    assert_true(n > 600);
    assert_null(pc_op_find(""));
    assert_null(pc_op_find("MPI_Sen"));
    assert_null(pc_op_find("MPI_Zzz"));
    assert_int_equal(pc_op_traits_of("MPI_Sen"), 0);
}

static void traits_follow_from_the_other_columns(void **state)
{
    enum {
        ALL = PCOLLECT_TRAIT_SOURCE | PCOLLECT_TRAIT_DEST | PCOLLECT_TRAIT_STARTS |
              PCOLLECT_TRAIT_PERSISTENT | PCOLLECT_TRAIT_MOVES | PCOLLECT_TRAIT_WAITS
    };
    static const struct {
        const char *name;
        uint32_t traits;
    } rows[] = {
        {"MPI_Send", PCOLLECT_TRAIT_DEST | PCOLLECT_TRAIT_MOVES},
        {"MPI_Irecv_c", PCOLLECT_TRAIT_SOURCE | PCOLLECT_TRAIT_STARTS | PCOLLECT_TRAIT_MOVES},
        {"MPI_Isendrecv", PCOLLECT_TRAIT_SOURCE | PCOLLECT_TRAIT_DEST | PCOLLECT_TRAIT_STARTS |
                              PCOLLECT_TRAIT_MOVES},
        {"MPI_Recv_init", PCOLLECT_TRAIT_SOURCE | PCOLLECT_TRAIT_PERSISTENT | PCOLLECT_TRAIT_MOVES},
        {"MPI_Startall", PCOLLECT_TRAIT_STARTS | PCOLLECT_TRAIT_MOVES},
        {"MPI_Comm_iflush_buffer", PCOLLECT_TRAIT_STARTS},
        {"MPI_Buffer_attach", 0},
        {"MPI_Iprobe", PCOLLECT_TRAIT_SOURCE},
        {"MPI_Waitany", PCOLLECT_TRAIT_WAITS},
        {"MPI_Test", 0},
        {"MPI_Win_wait", 0},
        {"MPI_Bcast_init_c", PCOLLECT_TRAIT_PERSISTENT | PCOLLECT_TRAIT_MOVES},
        {"MPI_Barrier", 0},
        {"MPI_Reduce_local", 0},
        {"MPI_Win_create", 0},
        {"MPI_Rput", PCOLLECT_TRAIT_STARTS | PCOLLECT_TRAIT_MOVES},
        {"MPI_File_write_all_end", PCOLLECT_TRAIT_MOVES},
        {"MPI_File_set_view", 0},
        {"MPI_Grequest_start", PCOLLECT_TRAIT_STARTS}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        if ((pc_op_traits_of(rows[i].name) & ALL) != rows[i].traits)
            fail_msg("%s: %#x", rows[i].name, pc_op_traits_of(rows[i].name) & ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_only_ask_wait_for_nobody),
        cmocka_unit_test(each_function_is_found_by_its_name),
        cmocka_unit_test(traits_follow_from_the_other_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
