# SPDX-License-Identifier: BSD-3-Clause
# Stacks of running processes.
noinst_LTLIBRARIES += watch/libpcwatch.la
watch_libpcwatch_la_SOURCES = watch/watch.h watch/watched_processes.c watch/caught.h watch/caught.c \
    watch/mpi_call.h watch/mpi_call.c watch/waited_messages.h watch/waited_messages.c watch/comm_members.h watch/comm_members.c watch/who_waits.h watch/who_waits.c \
    watch/thread_stacks.c watch/stack_profile.h watch/stack_profile.c watch/refusal.h watch/refusal.c watch/stack_tree.h watch/stack_tree.c \
    watch/shown_frames.c watch/named_places.h watch/named_places.c watch/python_frames.h watch/python_frames.c watch/jit_names.h watch/jit_names.c watch/jit_dump.h watch/jit_dump.c watch/vdso_names.h watch/vdso_names.c watch/node_stacks.h watch/node_stacks.c watch/code_files.h watch/code_files.c watch/code_names.h watch/code_names.c watch/copied_walk.h watch/copied_walk.c watch/code_frames.h watch/code_frames.c \
    watch/sample_rings.h watch/sample_rings.c watch/recorder.h watch/recorder.c watch/stopped_samples.h watch/stopped_samples.c watch/busiest.h watch/busiest.c watch/started_ranks.h watch/started_ranks.c watch/count.h watch/count.c
watch_libpcwatch_la_CFLAGS = $(PC_FLAGS) $(LIBDW_CFLAGS)
watch_libpcwatch_la_LIBADD = libcollect/libpcwalk.la libcollect/libpcops.la
if HAVE_LIBDW
watch_libpcwatch_la_LIBADD += $(LIBDW_LIBS)
endif
