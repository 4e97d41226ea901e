# SPDX-License-Identifier: BSD-3-Clause

# PC_CHECK_MPI(NAME, option, macro of its mpi.h, compiler wrappers, pkg-config modules)
# Finds the include flags of one MPI: given by --with-<option>=FLAGS, else from pkg-config, else from
# a compiler wrapper. Nothing is linked. Sets <NAME>_CPPFLAGS, have_<option>, HAVE_<NAME>, and in config.h
# <NAME>_HAS_*, the types of MPI-4.0 that this mpi.h has (adapter_types_missing.h): no version of an MPI
# tells it.
AC_DEFUN([PC_CHECK_MPI], [
  AC_ARG_WITH([$2], [AS_HELP_STRING([--with-$2@<:@=CPPFLAGS@:>@],
    [build the adapter for this MPI, whose mpi.h is found with CPPFLAGS])], [], [with_$2=auto])
  AC_MSG_CHECKING([for mpi.h of $2])
  have_$2=no
  AS_IF([test "x$with_$2" != xno], [
    AS_CASE([$with_$2], [auto|yes], [
      pc_candidates=
      for pc_module in $5; do
        pc_flags=`$PKG_CONFIG --cflags $pc_module 2>/dev/null` && pc_candidates="$pc_candidates$pc_flags
"
      done
      AS_IF([test "x$cross_compiling" != xyes], [
        for pc_wrapper in $4; do
          pc_flags=`$pc_wrapper --showme:compile 2>/dev/null` && pc_candidates="$pc_candidates$pc_flags
"
          pc_flags=`$pc_wrapper -compile_info 2>/dev/null | tr ' ' '\n' | grep '^-I' | tr '\n' ' '` && pc_candidates="$pc_candidates$pc_flags
"
        done])],
      [pc_candidates="$with_$2
"])
    pc_save_CPPFLAGS=$CPPFLAGS
    pc_save_IFS=$IFS
    IFS='
'
    for pc_flags in $pc_candidates; do
      IFS=$pc_save_IFS
      CPPFLAGS="$pc_save_CPPFLAGS $pc_flags"
      AS_IF([test $have_$2 = no], [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef $3
#error another MPI
#endif
]], [])], [have_$2=yes; $1_CPPFLAGS=$pc_flags])])
    done
    IFS=$pc_save_IFS
    CPPFLAGS="$pc_save_CPPFLAGS $$1_CPPFLAGS"
    AS_IF([test $have_$2 = yes], [
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
        [[MPI_T_event_instance event; MPI_T_cb_safety safety; (void)event; (void)safety;]])],
        [AC_DEFINE([$1_HAS_EVENTS], [1], [its mpi.h has the events of MPI_T])])
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
        [[MPI_User_function_c *function = 0; (void)function;]])],
        [AC_DEFINE([$1_HAS_LARGE_COUNTS], [1], [its mpi.h has functions with large counts])])])
    CPPFLAGS=$pc_save_CPPFLAGS
  ])
  AC_MSG_RESULT([$have_$2 $$1_CPPFLAGS])
  AC_SUBST([$1_CPPFLAGS])
  AM_CONDITIONAL([HAVE_$1], [test $have_$2 = yes])
])

# One line of the table: name, yes or no, cost of a no, cure of a no.
AC_DEFUN([PC_SUMMARY_LINE], [AS_IF([test "x$2" = xyes],
  [AS_ECHO(["  $1 yes"])],
  [AS_ECHO(["  $1 no    $3"])
   AS_ECHO(["                                    cure: $4"])])])

AC_DEFUN([PC_SUMMARY], [
  AS_ECHO([""])
  AS_ECHO(["pcollect $PACKAGE_VERSION for $host, installed in $prefix"])
  PC_SUMMARY_LINE([adapter for Open MPI        ], [$have_openmpi], [programs of Open MPI run unmeasured], [install libopenmpi-dev, or --with-openmpi=-I/path])
  PC_SUMMARY_LINE([adapter for MPICH           ], [$have_mpich], [programs of MPICH and its ABI family run unmeasured], [install libmpich-dev, or --with-mpich=-I/path])
  PC_SUMMARY_LINE([functions and lines         ], [$have_libdw], [the report shows modules and offsets only], [install libdw-dev])
  PC_SUMMARY_LINE([sockets by hwloc            ], [$have_hwloc], [pcollect topology tells nodes apart; sockets only as far as ranks are bound to one], [install libhwloc-dev])
  PC_SUMMARY_LINE([browser in the terminal     ], [$have_ncurses], [pcollect browse ends with an error], [install libncurses-dev])
  PC_SUMMARY_LINE([models of JSON lines        ], [$have_jansson], [pcollect model reads text files only], [install libjansson-dev])
  PC_SUMMARY_LINE([names of counters           ], [$have_papi], ["[[sample]] events" is refused], [install libpapi-dev and libpfm4-dev])
  PC_SUMMARY_LINE([walker tested by libunwind  ], [$have_libunwind], [make check compares the walker with fewer oracles], [install libunwind-dev])
  PC_SUMMARY_LINE([unit tests                  ], [$have_cmocka], [make check runs the end-to-end tests only], [install libcmocka-dev])
  AS_ECHO([""])
])
