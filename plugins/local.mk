# SPDX-License-Identifier: BSD-3-Clause
# The library's own plugins, which are linked into libpcollect.so. A user's plugin is a shared object that exports its
# descriptor as pcollect_plugin.
noinst_LTLIBRARIES += plugins/libpcplugins.la plugins/libpccommplugins.la
plugins_libpcplugins_la_SOURCES = plugins/plugins.h plugins/compute/clock_plugin.c plugins/compute/counters_plugin.c
plugins_libpcplugins_la_LIBADD = plugins/libpccommplugins.la
# The command has these, too, for what their tables mean.
plugins_libpccommplugins_la_SOURCES = plugins/plugins.h plugins/columns.h plugins/names.h \
    plugins/comm/time_plugin.c plugins/comm/null_plugin.c plugins/comm/series_plugin.c \
    plugins/comm/object_plugin.c plugins/comm/volume_plugin.c \
    plugins/comm/request_plugin.c plugins/comm/topology_plugin.c plugins/comm/domain_plugin.c

# Names of events, by PAPI and libpfm. This module is opened if events are requested.
if HAVE_PAPI
pcollectlib_LTLIBRARIES += pcollect-events.la
endif
pcollect_events_la_SOURCES = plugins/compute/event_names.h plugins/compute/event_names.c
pcollect_events_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS)
pcollect_events_la_LIBADD = counting/libpccounting.la base/libpcbase.la $(PAPI_LIBS)
pcollect_events_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs \
    -export-symbols-regex '^pc_events_module$$'
