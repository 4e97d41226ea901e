# SPDX-License-Identifier: BSD-3-Clause
mpi_scripts = tests/mpi/examples.test
TESTS += $(mpi_scripts)
dist_check_SCRIPTS += $(mpi_scripts)

# ---- The adapters, against a small host in place of the core ------------------------------------
check_LTLIBRARIES += tests/mpi/libadapterhost.la
tests_mpi_libadapterhost_la_SOURCES = tests/mpi/adapter_host.c tests/mpi/adapter_host.h
tests_mpi_libadapterhost_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere -Wl,-z,defs
tests_mpi_libadapterhost_la_LIBADD = libcollect/libpcmpi.la libcollect/libpcinterpose.la \
    base/libpcbase.la
TESTS += tests/mpi/adapter.test
dist_check_SCRIPTS += tests/mpi/adapter.test
EXTRA_DIST += tests/mpi/adapter_bytes.c tests/mpi/adapter_bytes.h tests/mpi/adapter_fake.c \
    tests/mpi/adapter_fortran.F90 tests/mpi/adapter_fortran.expect tests/mpi/adapter_local.c \
    tests/mpi/adapter_local_module.c tests/mpi/adapter_missing.c tests/mpi/adapter_prototypes.c \
    tests/mpi/adapter_requests.c tests/mpi/adapter_stubs.c tests/mpi/adapter_tool.c \
    tests/mpi/adapter_who.c
