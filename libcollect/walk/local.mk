# SPDX-License-Identifier: BSD-3-Clause
# The load map and the stack walker, which are linked into libpcollect.so and into tests.
noinst_LTLIBRARIES += libcollect/libpcwalk.la
libcollect_libpcwalk_la_SOURCES = \
    libcollect/walk/loadmap.h libcollect/walk/loadmap_private.h libcollect/walk/loadmap.c \
    libcollect/walk/loadmap_async.c libcollect/walk/mapped_path_async.c libcollect/walk/walk.h libcollect/walk/walk_private.h \
    libcollect/walk/arch.h libcollect/walk/walk_async.c libcollect/walk/cfi_async.c \
    libcollect/walk/expr_async.c libcollect/walk/reader_async.c \
    libcollect/walk/interpreter.h libcollect/walk/interpreter_private.h libcollect/walk/interpreter.c \
    libcollect/walk/interpreter_async.c
