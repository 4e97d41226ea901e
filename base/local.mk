# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += base/libpcbase.la
base_libpcbase_la_SOURCES = base/base.h base/clock.c base/descriptor.c base/hash.c base/log_async.c base/files_async.c base/map_async.c base/error.c base/escape.h base/escape.c \
    base/exports.h base/exports_async.c base/proc_files.c base/launchers.h base/launchers.c base/nearest.h base/nearest.c base/script.h base/script.c base/shell.h base/networks.h base/wrap.h base/wrap.c base/progress.h base/progress.c
