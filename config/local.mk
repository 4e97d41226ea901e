# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += config/libpcconfig.la config/libpcconfigtext.la
config_libpcconfig_la_SOURCES = config/config.h config/config_private.h config/option_table.c \
    config/value.c config/missed.c config/settings.c config/shown.c config/parse.c config/environment.c config/launcher_env.c config/expand.c
# Only for the command: it uses stdio, which libpcollect.so must not use.
config_libpcconfigtext_la_SOURCES = config/manual.c
