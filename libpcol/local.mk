# SPDX-License-Identifier: BSD-3-Clause
# Reading profiles from programs: include/pcollect/profile.h.
# The command, which uses it as well, has its objects.
noinst_LTLIBRARIES += libpcol/libpcread.la
libpcol_libpcread_la_SOURCES = libpcol/libpcol_private.h libpcol/profile_run.c libpcol/libpcol.c libpcol/read_tables.c \
    libpcol/read_sums.c libpcol/read_tree.c libpcol/read_findings.c libpcol/read_symbols.c
libpcol_libpcread_la_CFLAGS = $(PC_FLAGS) -fvisibility=default
lib_LTLIBRARIES += libpcol.la
libpcol_la_SOURCES =
libpcol_la_LDFLAGS = -version-info 1:0:0 -Wl,-z,defs -Wl,--version-script=$(srcdir)/libpcol/libpcol.map
libpcol_la_LIBADD = libpcol/libpcread.la view/libpcview.la analysis/libpcanalysis.la merge/libpcmerge.la \
    $(ZLIB_LIBS)
libpcol_la_DEPENDENCIES = libpcol/libpcread.la view/libpcview.la analysis/libpcanalysis.la merge/libpcmerge.la \
    libpcol/libpcol.map
EXTRA_DIST += libpcol/libpcol.map
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libpcol/libpcol.pc
