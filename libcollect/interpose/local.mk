# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libcollect/libpcinterpose.la
libcollect_libpcinterpose_la_SOURCES = libcollect/interpose/dl.S libcollect/interpose/dl_next.c \
    libcollect/interpose/interpose.h libcollect/interpose/signal.c
