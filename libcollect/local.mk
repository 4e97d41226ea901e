# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libcollect/libpccore.la libcollect/libpctables.la
libcollect_libpctables_la_SOURCES = libcollect/state/own_tables.h libcollect/state/own_tables.c
libcollect_libpctables_la_CFLAGS = $(PC_FLAGS)
# gcc's vectorizer would combine two stores into one vector store with two loads and a shuffle, which is slower.
libcollect_libpccore_la_CFLAGS = $(PC_FLAGS) -fno-tree-slp-vectorize -fomit-frame-pointer
libcollect_libpccore_la_SOURCES = libcollect/adapter.h libcollect/requests.h \
    libcollect/state/core.h libcollect/state/state.h libcollect/state/state.c libcollect/state/thread_clock.c libcollect/state/ticks.c libcollect/state/memory_async.c \
    libcollect/state/install_path.c libcollect/state/ops.h libcollect/state/publish.h libcollect/state/publish.c \
    libcollect/state/own_tables.h libcollect/state/plugin_table.h libcollect/state/plugin_table.c libcollect/state/next.h \
    libcollect/context/path.h libcollect/context/path.c libcollect/context/path_walk.c libcollect/context/shown.h \
    libcollect/context/scope.h libcollect/context/scope.c libcollect/context/thread.h libcollect/context/thread.c \
    libcollect/context/copied_context.h libcollect/context/copied_context.c \
    libcollect/context/python.h libcollect/context/python_private.h libcollect/context/python.c \
    libcollect/context/python_async.c libcollect/context/python_paths.c \
    libcollect/sampling/sampler.h libcollect/sampling/sampler.c libcollect/sampling/sampler_signal.c libcollect/sampling/sampler_program.c libcollect/sampling/sampler_cost.c libcollect/sampling/sampler_event.c \
    libcollect/sampling/early_threads.h libcollect/sampling/early_threads.c \
    libcollect/sampling/sampler_async.c libcollect/sampling/sampler_walk_async.c \
    libcollect/sampling/sampler_pair_async.c libcollect/sampling/sampler_source_async.c \
    libcollect/sampling/sampler_place_async.c libcollect/sampling/counter_groups.h \
    libcollect/sampling/counter_groups.c libcollect/sampling/edges.h libcollect/sampling/edges.c \
    libcollect/sampling/edges_async.c \
    libcollect/call/call.h libcollect/call/call.c libcollect/call/call_domain.c libcollect/call/call_followed.c libcollect/call/request_end.c \
    libcollect/tables/process_tables.h libcollect/tables/jobs_table.c libcollect/tables/threads_table.c libcollect/tables/thread_times_table.c \
    libcollect/tables/machine_table.c libcollect/tables/place_table.c libcollect/tables/cpu_list.c \
    libcollect/tables/run_tables.c libcollect/tables/resources_table.c \
    libcollect/life/life.h libcollect/life/core.c libcollect/life/parts.h libcollect/life/parts.c \
    libcollect/life/announce.c libcollect/life/nameplate.h libcollect/life/nameplate.c libcollect/life/plugin_host.h libcollect/life/plugin_host.c \
    libcollect/life/comm_plugins.c libcollect/life/compute_plugins.c libcollect/life/writer.c libcollect/life/run_word.c \
    libcollect/life/finish.c libcollect/life/roomy_stack.c libcollect/life/program_path.h libcollect/life/program_path.c libcollect/life/region.c

# The preloaded library. It needs libc and nothing else: zlib is needed by a module that is opened only when it is used.
# All its parts are linked as whole archives, because nothing inside refers to the stubs.
lib_LTLIBRARIES += libpcollect.la
libpcollect_la_SOURCES =
libpcollect_la_LDFLAGS = -shared -avoid-version -Wl,-z,defs -Wl,-z,now
libpcollect_la_LIBADD = libcollect/libpcmpi.la libcollect/libpccore.la libcollect/libpctables.la libcollect/libpcwalk.la \
    libcollect/libpcinterpose.la libcollect/libpcsampled.la \
    plugins/libpcplugins.la merge/libpcmessage.la config/libpcconfig.la counting/libpccounting.la \
    cct/libpccct.la \
    base/libpcbase.la

# Removes libtool's .la files of libraries that nobody links against.
install-exec-hook:
	rm -f $(DESTDIR)$(libdir)/libpcollect.la $(DESTDIR)$(libdir)/libpcol.la
install-data-hook:
	rm -f $(DESTDIR)$(pcollectlibdir)/*.la
uninstall-hook:
	rm -f $(DESTDIR)$(libdir)/libpcollect.so $(DESTDIR)$(libdir)/libpcol.so*
	rm -f $(DESTDIR)$(pcollectlibdir)/adapter-*.so $(DESTDIR)$(pcollectlibdir)/pcollect-merge.so \
	    $(DESTDIR)$(pcollectlibdir)/pcollect-events.so $(DESTDIR)$(pcollectlibdir)/pcollect-machine.so
