# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += cct/libpccct.la
cct_libpccct_la_SOURCES = cct/cct.h cct/cct_private.h cct/arena.c cct/arena_async.c \
    cct/tree_async.c cct/bins_async.c cct/rows_async.c cct/strings_async.c
