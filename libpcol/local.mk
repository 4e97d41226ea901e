# SPDX-License-Identifier: BSD-3-Clause
# Reading profiles from programs: include/pcollect/profile.h.
lib_LTLIBRARIES += libpcol.la
libpcol_la_SOURCES = libpcol/libpcol.c
libpcol_la_CFLAGS = $(PC_FLAGS) -fvisibility=default
libpcol_la_LDFLAGS = -version-info 1:0:0 -Wl,-z,defs -Wl,--version-script=$(srcdir)/libpcol/libpcol.map
libpcol_la_LIBADD = view/libpcview.la analysis/libpcanalysis.la merge/libpcmerge.la
libpcol_la_DEPENDENCIES = $(libpcol_la_LIBADD) libpcol/libpcol.map
EXTRA_DIST += libpcol/libpcol.map
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libpcol/libpcol.pc
