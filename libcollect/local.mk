# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libcollect/libpccore.la
libcollect_libpccore_la_SOURCES = \
    libcollect/core.h libcollect/core_private.h libcollect/path.h libcollect/loadmap.h \
    libcollect/core.c libcollect/call.c libcollect/finish.c libcollect/host.c \
    libcollect/memory_async.c libcollect/path.c libcollect/path_walk.c libcollect/publish.c \
    libcollect/thread.c libcollect/where.c
