# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libcollect/libpccore.la
# Two loads and a shuffle into one vector store are slower than two stores.
libcollect_libpccore_la_CFLAGS = $(PC_FLAGS) -fno-tree-slp-vectorize -fomit-frame-pointer
libcollect_libpccore_la_SOURCES = \
    libcollect/core.h libcollect/core_private.h libcollect/process.h libcollect/path.h libcollect/loadmap.h \
    libcollect/process.c libcollect/ticks.c libcollect/writer.c \
    libcollect/core.c libcollect/call.c libcollect/domain.c libcollect/ended.c libcollect/finish.c \
    libcollect/host.c libcollect/launch.c libcollect/jobs.c libcollect/census.c libcollect/machine.c \
    libcollect/memory_async.c libcollect/path.c libcollect/path_walk.c libcollect/publish.c \
    libcollect/sampler.h libcollect/sampler.c libcollect/sampler_cost.c \
    libcollect/sampler_async.c libcollect/sampler_walk_async.c libcollect/sampler_pair_async.c \
    libcollect/sampler_source_async.c libcollect/sampler_place_async.c \
    libcollect/usage.c libcollect/host_compute.c libcollect/plugin.c \
    libcollect/counters.h libcollect/counters.c libcollect/edges.h libcollect/edges.c \
    libcollect/edges_async.c \
    libcollect/region.c libcollect/scope.h libcollect/scope.c libcollect/table.c libcollect/thread.c \
    libcollect/twin.c libcollect/where.c

# The preloaded library. It needs libc and nothing else: zlib hangs on a module that is opened when it
# is used. All its parts are whole archives: what nothing inside refers to (the stubs) is its purpose.
lib_LTLIBRARIES += libpcollect.la
libpcollect_la_SOURCES =
libpcollect_la_LDFLAGS = -shared -avoid-version -Wl,-z,defs -Wl,-z,now
libpcollect_la_LIBADD = libcollect/libpcmpi.la libcollect/libpccore.la libcollect/libpcwalk.la \
    libcollect/libpcinterpose.la libcollect/libpcsampled.la \
    plugins/libpcplugins.la merge/libpcmessage.la config/libpcconfig.la counting/libpccounting.la \
    cct/libpccct.la \
    base/libpcbase.la

# libtool's descriptions of libraries that nobody links against.
install-exec-hook:
	rm -f $(DESTDIR)$(libdir)/libpcollect.la
install-data-hook:
	rm -f $(DESTDIR)$(pcollectlibdir)/*.la
uninstall-hook:
	rm -f $(DESTDIR)$(libdir)/libpcollect.so
	rm -f $(DESTDIR)$(pcollectlibdir)/adapter-*.so $(DESTDIR)$(pcollectlibdir)/pcollect-merge.so \
	    $(DESTDIR)$(pcollectlibdir)/pcollect-events.so $(DESTDIR)$(pcollectlibdir)/pcollect-machine.so
