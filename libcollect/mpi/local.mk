# SPDX-License-Identifier: BSD-3-Clause
# Stubs and resolver (libpcmpi.la), names and traits (libpcops.la) go into libpcollect.so; the adapters are modules. The
# command has names and traits too.

mpi_table = $(top_srcdir)/libcollect/mpi/functions.tbl
mpi_reader = $(top_srcdir)/libcollect/mpi/table.awk
mpi_generator = $(top_srcdir)/libcollect/mpi/generate.awk
mpi_made = libcollect/mpi/ops.h libcollect/mpi/op_rows.c libcollect/mpi/stub_rows.h \
    libcollect/mpi/stub_c_rows.h libcollect/mpi/adapter_types.h libcollect/mpi/adapter_rows.h

mpi_make = $(MKDIR_P) libcollect/mpi && \
    LC_ALL=C $(AWK) -v what=$$what -f $(mpi_reader) -f $(mpi_generator) $(mpi_table) >$@.tmp && mv $@.tmp $@

libcollect/mpi/ops.h: $(mpi_table) $(mpi_reader) $(mpi_generator)
	$(AM_V_GEN)what=ops; $(mpi_make)
libcollect/mpi/op_rows.c: $(mpi_table) $(mpi_reader) $(mpi_generator)
	$(AM_V_GEN)what=names; $(mpi_make)
libcollect/mpi/stub_rows.h: $(mpi_table) $(mpi_reader) $(mpi_generator)
	$(AM_V_GEN)what=stubs; $(mpi_make)
libcollect/mpi/stub_c_rows.h: $(mpi_table) $(mpi_reader) $(mpi_generator)
	$(AM_V_GEN)what=cstubs; $(mpi_make)
libcollect/mpi/adapter_types.h: $(mpi_table) $(mpi_reader) $(mpi_generator)
	$(AM_V_GEN)what=types; $(mpi_make)
libcollect/mpi/adapter_rows.h: $(mpi_table) $(mpi_reader) $(mpi_generator)
	$(AM_V_GEN)what=wrappers; $(mpi_make)

BUILT_SOURCES += $(mpi_made)
$(libcollect_libpcmpi_la_OBJECTS) $(libcollect_libpcops_la_OBJECTS) $(adapter_openmpi_la_OBJECTS) $(adapter_mpich_la_OBJECTS): $(mpi_made)
CLEANFILES += $(mpi_made)
EXTRA_DIST += libcollect/mpi/functions.tbl libcollect/mpi/passed.tbl libcollect/mpi/table.awk \
    libcollect/mpi/generate.awk libcollect/mpi/coverage.awk

noinst_LTLIBRARIES += libcollect/libpcops.la
libcollect_libpcops_la_SOURCES = libcollect/state/ops.h libcollect/state/ops.c
nodist_libcollect_libpcops_la_SOURCES = libcollect/mpi/ops.h libcollect/mpi/op_rows.c

noinst_LTLIBRARIES += libcollect/libpcmpi.la
libcollect_libpcmpi_la_SOURCES = \
    libcollect/stub.h libcollect/stub_asm.inc libcollect/stub_asm_more.inc \
    libcollect/mpi/mpi_private.h libcollect/mpi/stubs.S libcollect/mpi/stubs_c.c \
    libcollect/mpi/counts.c libcollect/mpi/resolver.c
nodist_libcollect_libpcmpi_la_SOURCES = \
    libcollect/mpi/ops.h libcollect/mpi/stub_rows.h \
    libcollect/mpi/stub_c_rows.h
libcollect_libpcmpi_la_LIBADD = libcollect/libpcops.la

adapter_sources = \
    libcollect/adapter.h libcollect/requests.h libcollect/mpi/adapter_mpi.h libcollect/mpi/adapter_types_missing.h libcollect/mpi/adapter_mpi.c \
    libcollect/mpi/adapter_private.h libcollect/mpi/adapter_bytes.h libcollect/mpi/adapter_names.h libcollect/mpi/adapter_names.c \
    libcollect/mpi/adapter_bytes.c libcollect/mpi/adapter_requests.h \
    libcollect/mpi/adapter_requests.c libcollect/mpi/adapter_single.h libcollect/mpi/adapter_table.h \
    libcollect/mpi/adapter_table.c libcollect/mpi/adapter_comm.h \
    libcollect/mpi/adapter_comm.c libcollect/mpi/adapter_domain.h \
    libcollect/mpi/adapter_objects.h libcollect/mpi/adapter_objects.c \
    libcollect/mpi/adapter_domain.c libcollect/mpi/adapter_want.h libcollect/mpi/adapter_want.c \
    libcollect/mpi/adapter_state.c libcollect/mpi/adapter_life.c libcollect/mpi/adapter.c \
    libcollect/mpi/adapter_wrappers.c
adapter_made = libcollect/mpi/ops.h libcollect/mpi/adapter_types.h libcollect/mpi/adapter_rows.h
adapter_ldflags = -module -avoid-version -shared -Wl,-z,defs -export-symbols-regex '^pc_adapter$$'

if HAVE_OPENMPI
pcollectlib_LTLIBRARIES += adapter-openmpi.la
endif
adapter_openmpi_la_SOURCES = $(adapter_sources)
nodist_adapter_openmpi_la_SOURCES = $(adapter_made)
adapter_openmpi_la_CFLAGS = $(PC_FLAGS) -fno-tree-slp-vectorize -fomit-frame-pointer
adapter_openmpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENMPI_CPPFLAGS)
adapter_openmpi_la_LDFLAGS = $(adapter_ldflags)
adapter_openmpi_la_LIBADD = base/libpcbase.la

if HAVE_MPICH
pcollectlib_LTLIBRARIES += adapter-mpich.la
endif
adapter_mpich_la_SOURCES = $(adapter_sources)
nodist_adapter_mpich_la_SOURCES = $(adapter_made)
adapter_mpich_la_CFLAGS = $(PC_FLAGS) -fno-tree-slp-vectorize -fomit-frame-pointer
adapter_mpich_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
adapter_mpich_la_LDFLAGS = $(adapter_ldflags)
adapter_mpich_la_LIBADD = base/libpcbase.la
