# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/tools/command.test tests/tools/checkpoint.test tests/tools/doctor.test tests/tools/config.test tests/tools/run.test \
    tests/tools/run-mpi.test tests/tools/pages.test tests/tools/recover.test tests/tools/run-job.test tests/tools/run-lacking.test \
    tests/tools/model.test tests/tools/scale.test tests/tools/scale-threads.test \
    tests/tools/diff.test tests/tools/annotate.test tests/tools/embed.test tests/tools/events.test \
    tests/tools/info.test tests/tools/average.test tests/tools/debuginfod.test \
    tests/tools/valgrind.test tests/tools/outputs.test tests/tools/recover-safe.test tests/tools/names.test tests/tools/progress.test \
    tests/tools/export.test tests/tools/sites.test tests/tools/run-early.test tests/tools/doctor-spool.test tests/tools/run-told.test tests/tools/browse.test tests/tools/debugger.test
EXTRA_DIST += tests/tools/export_check.py tests/tools/export_speedscope_check.py tests/tools/pprof.proto tests/tools/exported.c tests/tools/preload.c tests/tools/nomem.c tests/tools/nowait.c tests/tools/slow_open.c tests/tools/leave.c tests/tools/mapped.c tests/tools/early.c tests/tools/debugged.c
check_PROGRAMS += tests/tools/make_arena
tests_tools_make_arena_LDADD = cct/libpccct.la base/libpcbase.la
