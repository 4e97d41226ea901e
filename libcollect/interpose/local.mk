# SPDX-License-Identifier: BSD-3-Clause
# Two libraries: one of functions that any process needs, one of functions for the sampler, which refer to the core.
noinst_LTLIBRARIES += libcollect/libpcinterpose.la libcollect/libpcsampled.la
libcollect_libpcinterpose_la_SOURCES = libcollect/interpose/dl.S libcollect/interpose/dl_next.c \
    libcollect/interpose/sanitizer.c
# Keeps frame pointers, because the frames that enter parallel regions are read.
libcollect_libpcsampled_la_CFLAGS = $(PC_FLAGS) -fno-omit-frame-pointer
libcollect_libpcsampled_la_SOURCES = libcollect/state/next.h libcollect/state/blocking.h \
    libcollect/interpose/wait.h libcollect/interpose/region.h libcollect/interpose/gomp.c \
    libcollect/interpose/ompt.c libcollect/state/next.c libcollect/interpose/exec.c libcollect/interpose/exit.c \
    libcollect/interpose/signal.c libcollect/interpose/seccomp.h libcollect/interpose/seccomp_answer.h libcollect/interpose/seccomp_answer.c libcollect/interpose/seccomp.c libcollect/interpose/thread_start.c libcollect/interpose/wait.c \
    libcollect/interpose/sockets.c libcollect/interpose/bare_calls.c
