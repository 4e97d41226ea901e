# SPDX-License-Identifier: BSD-3-Clause
bin_PROGRAMS += tools/pcollect
tools_pcollect_SOURCES = tools/tools.h tools/run.h tools/main.c tools/options.c tools/paths.c tools/text.c \
    tools/config.c tools/job.c tools/launcher.c tools/recover.h tools/recover.c tools/recover_job.c \
    tools/report.c tools/run.c tools/runs.c \
    tools/annotate.c \
    tools/diff.c \
    tools/embed.c \
    tools/events.c \
    tools/family.h tools/family.c \
    tools/info.c \
    tools/merge.c \
    tools/model.c \
    tools/scale.c \
    tools/topology.c \
    tools/verify.c \
    tools/doctor.h tools/doctor.c tools/doctor_patient.c tools/doctor_elf.c \
    tools/doctor_library.c tools/doctor_machine.c tools/doctor_mpi.c tools/doctor_spool.c
tools_pcollect_CPPFLAGS = $(AM_CPPFLAGS) -DPCT_LIBDIR='"$(libdir)"'
tools_pcollect_CFLAGS = $(PC_FLAGS)
tools_pcollect_LDADD = report/libpcreport.la merge/libpcmerge.la format/libpcformat.la \
    config/libpcconfigtext.la config/libpcconfig.la counting/libpccounting.la base/libpcbase.la
include doc/man/local.mk
