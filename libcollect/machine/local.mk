# SPDX-License-Identifier: BSD-3-Clause
noinst_HEADERS += libcollect/machine/machine.h

# The module that libpcollect.so opens in one rank of each node: only this module needs hwloc.
if HAVE_HWLOC
pcollectlib_LTLIBRARIES += libcollect/machine/pcollect-machine.la
libcollect_machine_pcollect_machine_la_SOURCES = libcollect/machine/machine_module.c
libcollect_machine_pcollect_machine_la_CFLAGS = $(PC_FLAGS) $(HWLOC_CFLAGS)
libcollect_machine_pcollect_machine_la_LIBADD = $(HWLOC_LIBS)
libcollect_machine_pcollect_machine_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs \
    -export-symbols-regex '^pc_machine_module$$'
endif
