# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += counting/libpccounting.la
counting_libpccounting_la_SOURCES = counting/counting.h counting/counting_private.h \
    counting/counting.c counting/open.c counting/meter.c counting/meter_async.c counting/view.c counting/kernel_events.c
