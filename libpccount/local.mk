# SPDX-License-Identifier: BSD-3-Clause
# Counting from inside a program: include/pcollect/count.h. The library is never unloaded, because threads that have
# counted run its code when they end.
lib_LTLIBRARIES += libpccount.la
libpccount_la_SOURCES = libpccount/libpccount_private.h libpccount/own_threads.c libpccount/viewer.c
libpccount_la_CFLAGS = $(PC_FLAGS) -fvisibility=default
libpccount_la_LDFLAGS = -version-info 1:0:0 -Wl,-z,defs -Wl,-z,nodelete \
    -Wl,--version-script=$(srcdir)/libpccount/libpccount.map
libpccount_la_LIBADD = counting/libpccounting.la base/libpcbase.la -lpthread
libpccount_la_DEPENDENCIES = counting/libpccounting.la base/libpcbase.la libpccount/libpccount.map
EXTRA_DIST += libpccount/libpccount.map
pkgconfig_DATA += libpccount/libpccount.pc
