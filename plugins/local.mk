# SPDX-License-Identifier: BSD-3-Clause
# One source for both uses: static in libpcollect.so, or (user's plugins) a shared object that
# exports its descriptor as pcollect_plugin.
noinst_LTLIBRARIES += plugins/libpcplugins.la
plugins_libpcplugins_la_SOURCES = plugins/plugins.h plugins/comm/time.c plugins/comm/null.c \
    plugins/comm/series.c plugins/comm/object.c plugins/comm/volume.c \
    plugins/comm/request.c plugins/comm/topology.c plugins/comm/domain.c \
    plugins/compute/clock.c
