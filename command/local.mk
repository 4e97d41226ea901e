# SPDX-License-Identifier: BSD-3-Clause
# The command without its main(); tests and the generator of manual pages link it, too.
noinst_LTLIBRARIES += command/libpccommand.la
command_libpccommand_la_SOURCES = command/command.h command/commands.c command/messages.c command/arguments.c command/help.c command/interruption.c command/open_files.c \
    command/values.c command/config_options.c command/configure.c command/terminal.c command/tell_progress.c command/one_profile.c command/file_paths.c command/whole_file.h command/whole_file.c command/child_output.c \
    command/report.h command/report_options.c command/launch/run.h \
    command/config.c command/known_names.c command/plugin_names.c command/launch/run_job.h command/launch/run_file.c command/launch/checkpoints.c command/launch/run_end.c command/launch/linked_mpi.c command/launch/child.c command/launch/witness.h command/launch/witness.c command/launch/launcher.c command/launch/launcher_options.c command/recover/recover.h command/recover/recover.c command/recover/recover_folders.c command/recover/recover_job.c command/recover/recover_lock.c command/recover/checkpoint_files.c command/recover/job_copies.c command/recover/left.c \
    command/report.c command/launch/run.c command/compared_profiles.c \
    command/annotate.c \
    command/average.c \
    command/checkpoint.c \
    command/browse/browse.h command/browse/browse.c command/browse/browse_screen.c \
    command/diff.c \
    command/embed.c \
    command/events.c \
    command/export.c \
    command/related_jobs.h command/related_jobs.c command/watched_jobs.h command/watched_jobs.c \
    command/html.h command/html.c command/html_compare.c command/html_write.c \
    command/info.c \
    command/model.c command/measurements/measurements.h command/measurements/measurements.c \
    command/measurements/read_measurements.c command/measurements/read_measurements_text.c \
    command/measurements/read_measurements_json.c \
    command/record/record.h command/record/command_lines.h command/record/command_lines.c command/record/sampling.c command/record/record_others.c command/record/top.c command/record/top_print.h command/record/top_print.c \
    command/scale.c \
    command/topology.c \
    command/verify.c \
    command/where.c command/where_calls.h command/where_calls.c command/where_again.c command/where_nodes.h command/where_nodes.c command/where_waits.c \
    command/stat/stat.h command/stat/stat.c command/stat/stat_events.c command/stat/stat_targets.c command/stat/stat_ranks.c command/stat/stat_accounted.c \
    command/doctor/doctor.h command/doctor/doctor.c command/doctor/doctor_trial.c command/doctor/doctor_elf.c \
    command/doctor/doctor_library.c command/doctor/doctor_machine.c command/doctor/doctor_mpi.c command/doctor/doctor_spool.c command/doctor/doctor_kill.c
command_libpccommand_la_CPPFLAGS = $(AM_CPPFLAGS) -DPCT_LIBDIR='"$(libdir)"'
command_libpccommand_la_CFLAGS = $(PC_FLAGS) $(JANSSON_CFLAGS) $(NCURSES_CFLAGS)

command_libpccommand_la_LIBADD = cct/libpccct.la
bin_PROGRAMS += command/pcollect
command_pcollect_SOURCES = command/main.c
command_pcollect_LDADD = command/libpccommand.la libpcol/libpcread.la view/libpcview.la watch/libpcwatch.la analysis/libpcanalysis.la merge/libpcmerge.la format/libpcformat.la \
    config/libpcconfigtext.la config/libpcconfig.la counting/libpccounting.la base/libpcbase.la $(JANSSON_LIBS) $(NCURSES_LIBS) $(ZLIB_LIBS)
include doc/man/local.mk
