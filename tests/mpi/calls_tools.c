/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tool interface: what the MPI offers is listed, the first variable of each kind that is of no
 * object is read.
 */
#include "tests/mpi/calls.h"

#include <stddef.h>

/* clang-format off: a call is one line of source */

static char name[256], text[2048];
static int n_name, n_text;

TRUTH_FUNCTION static void control_variables(void)
{
    int n, verbosity, bind, scope, count, index;
    MPI_Datatype t;
    MPI_T_enum e;
    MPI_T_cvar_handle h;
    _Alignas(16) char value[65536];
    ENTER;
    MPI(T_cvar_get_num, 0, 0, (&n));
    for (int i = 0; i < n; i++) {
        n_name = sizeof name, n_text = sizeof text;
        MPI(T_cvar_get_info, 0, 0,
            (i, name, &n_name, &verbosity, &t, &e, text, &n_text, &bind, &scope));
        if (t != MPI_INT || bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI(T_cvar_get_index, 0, 0, (name, &index));
        MPI(T_cvar_handle_alloc, 0, 0, (i, NULL, &h, &count));
        MPI(T_cvar_read, 0, 0, (h, value));
        MPI(T_cvar_write, 0, 0, (h, value));
        MPI(T_cvar_handle_free, 0, 0, (&h));
        break;
    }
    LEAVE;
}

TRUTH_FUNCTION static void performance_variables(void)
{
    int n, verbosity, class, bind, readonly, continuous, atomic, count, index;
    MPI_Datatype t;
    MPI_T_enum e;
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    _Alignas(16) char value[65536];
    ENTER;
    MPI(T_pvar_session_create, 0, 0, (&s));
    MPI(T_pvar_get_num, 0, 0, (&n));
    for (int i = 0; i < n; i++) {
        n_name = sizeof name, n_text = sizeof text;
        MPI(T_pvar_get_info, 0, 0,
            (i, name, &n_name, &verbosity, &class, &t, &e, text, &n_text, &bind, &readonly,
             &continuous, &atomic));
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI(T_pvar_get_index, 0, 0, (name, class, &index));
        MPI(T_pvar_handle_alloc, 0, 0, (s, i, NULL, &h, &count));
        MPI(T_pvar_start, 0, 0, (s, h));
        MPI(T_pvar_read, 0, 0, (s, h, value));
        MPI(T_pvar_readreset, 0, 0, (s, h, value));
        MPI(T_pvar_reset, 0, 0, (s, h));
        MPI(T_pvar_stop, 0, 0, (s, h));
        MPI(T_pvar_handle_free, 0, 0, (s, &h));
        break;
    }
    MPI(T_pvar_session_free, 0, 0, (&s));
    LEAVE;
}

TRUTH_FUNCTION static void categories(void)
{
    int n, stamp, n_cvars, n_pvars, n_categories, list[1], index;
    ENTER;
    MPI(T_category_get_num, 0, 0, (&n));
    MPI(T_category_changed, 0, 0, (&stamp));
    if (n > 0) {
        n_name = sizeof name, n_text = sizeof text;
        MPI(T_category_get_info, 0, 0,
            (0, name, &n_name, text, &n_text, &n_cvars, &n_pvars, &n_categories));
        MPI(T_category_get_index, 0, 0, (name, &index));
        MPI(T_category_get_cvars, 0, 0, (0, 1, list));
        MPI(T_category_get_pvars, 0, 0, (0, 1, list));
        MPI(T_category_get_categories, 0, 0, (0, 1, list));
#if CALLS_MPI_4
        MPI(T_category_get_num_events, 0, 0, (0, &index));
        MPI(T_category_get_events, 0, 0, (0, 1, list));
#endif
    }
    LEAVE;
}

#if CALLS_MPI_4
TRUTH_FUNCTION static void events(void)
{
    int n;
    MPI_Count now;
    ENTER;
    MPI(T_event_get_num, 0, 0, (&n));
    MPI(T_source_get_num, 0, 0, (&n));
    if (n > 0)
        MPI(T_source_get_timestamp, 0, 0, (0, &now));
    LEAVE;
}
#endif

TRUTH_FUNCTION void calls_tools(const struct calls *p)
{
    int provided;
    (void)p;
    ENTER;
    MPI(T_init_thread, 0, 0, (MPI_THREAD_SINGLE, &provided));
    DO(control_variables());
    DO(performance_variables());
    DO(categories());
#if CALLS_MPI_4
    DO(events());
#endif
    MPI(T_finalize, 0, 0, ());
    LEAVE;
}
