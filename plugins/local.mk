# SPDX-License-Identifier: BSD-3-Clause
# One source for both uses: static in libpcollect.so, or (user's plugins) a shared object that
# exports its descriptor as pcollect_plugin.
noinst_LTLIBRARIES += plugins/libpcplugins.la
plugins_libpcplugins_la_SOURCES = plugins/plugins.h plugins/comm/time.c plugins/comm/null.c \
    plugins/comm/series.c plugins/comm/object.c plugins/comm/volume.c \
    plugins/comm/request.c plugins/comm/topology.c plugins/comm/domain.c \
    plugins/compute/clock.c plugins/compute/counters.c

# Names of events, by PAPI and libpfm: opened where events are asked for.
if HAVE_PAPI
pcollectlib_LTLIBRARIES += pcollect-events.la
endif
pcollect_events_la_SOURCES = plugins/compute/events.h plugins/compute/events.c
pcollect_events_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS)
pcollect_events_la_LIBADD = base/libpcbase.la $(PAPI_LIBS)
pcollect_events_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs \
    -export-symbols-regex '^pc_events_module$$'
