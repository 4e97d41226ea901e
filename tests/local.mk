# SPDX-License-Identifier: BSD-3-Clause
# Two kinds of test, both TAP: cmocka programs (no suffix) and shell scripts (.test). Each folder of
# tests adds its own in tests/<folder>/local.mk. Scripts get PC_STAGE (an installed tree), PC_SRC,
# PC_BUILD and the MPI tools in the environment, and source tests/lib.sh. A make that they start does not share
# the jobs of the make that runs them.

TEST_EXTENSIONS = .test
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-test $(SHELL) $(top_srcdir)/tests/run-unit
# A script that ends early prints no plan, so its exit status is not needed.
TEST_LOG_DRIVER = $(LOG_DRIVER)
TEST_LOG_DRIVER_FLAGS = --ignore-exit
TEST_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-test $(SHELL)

AM_TESTS_ENVIRONMENT = \
    unset MAKEFLAGS MFLAGS MAKELEVEL; \
    PC_STAGE='$(stage)'; export PC_STAGE; \
    PC_SRC='$(abs_top_srcdir)'; export PC_SRC; \
    PC_BUILD='$(abs_top_builddir)'; export PC_BUILD; \
    PC_CC='$(CC)'; export PC_CC; \
    PC_CFLAGS='$(CFLAGS)'; export PC_CFLAGS; \
    PC_CXX='$(CXX_FOR_TESTS)'; export PC_CXX; \
    MPIRUN_OPENMPI='$(MPIRUN_OPENMPI)'; export MPIRUN_OPENMPI; \
    MPIRUN_MPICH='$(MPIRUN_MPICH)'; export MPIRUN_MPICH; \
    MPICC_OPENMPI='$(MPICC_OPENMPI)'; export MPICC_OPENMPI; \
    MPICC_MPICH='$(MPICC_MPICH)'; export MPICC_MPICH; \
    MPIFC_OPENMPI='$(MPIFC_OPENMPI)'; export MPIFC_OPENMPI; \
    MPIFC_MPICH='$(MPIFC_MPICH)'; export MPIFC_MPICH;

# Parts of the tests: the unit tests; the unit tests with those that usually fail first, among them jobs of both MPIs.
quick_tests = $(unit_tests) tests/mpi/examples.test tests/mpi/refused.test tests/mpi/requests.test \
    tests/mpi/scopes.test tests/mpi/truth_c.test tests/mpi/truth_example.test tests/mpi/truth_signals.test \
    tests/safety/forks.test tests/safety/quiet.test tests/safety/state.test tests/safety/threads.test \
    tests/sample/times.test tests/sample/waits.test tests/sample/programs.test tests/merge/tables.test \
    tests/tools/command.test tests/tools/config.test tests/tools/doctor.test tests/tools/run.test \
    tests/tools/run-mpi.test tests/tools/recover.test tests/tools/diff.test tests/tools/average.test \
    tests/report/golden.test tests/report/report.test tests/report/choice.test tests/report/parts.test \
    tests/project/async.test tests/project/circles.test tests/project/folders.test \
    tests/project/library.test tests/project/sources.test tests/project/texts.test
check-unit:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(unit_tests)'
check-quick:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(quick_tests)'
.PHONY: check-unit check-quick

# Scripts that `make check` leaves out: pages in browsers, documents that are followed word by word, statistics over many
# samples, planted faults, widths of each output, instructions of each call, other compilers and processors.
slow_tests = tests/report/page_runs.test tests/report/page_objects.test tests/report/page_names.test \
    tests/report/page_several.test tests/report/firefox.test tests/project/tutorials.test tests/project/howto.test tests/sample/intervals.test \
    tests/report/planted.test tests/report/width.test tests/cost/instructions.test tests/mpi/adapter.test \
    tests/project/headers.test tests/walk/processors.test
check-all:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(scripts_in_order) $(filter-out $(scripts_in_order),$(TESTS))'
.PHONY: check-all

# Time of each test in its last run here, the longest last.
check-times:
	@find tests -path tests/work -prune -o -name '*.log' -exec $(AWK) -f $(top_srcdir)/tests/times.awk {} +
.PHONY: check-times

# Runs the commands that README and the tutorials show, and writes their output into these pages. It needs a
# machine with two free processors, because the pages describe what was measured.
renew-docs:
	@PCOLLECT_TEST_RENEW=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS=tests/project/tutorials.test
.PHONY: renew-docs

# All tests with more repetitions; it takes hours. A test reads the variable that applies to it; each can be set:
# make check-long PCOLLECT_TEST_KILLS=20000
#   PCOLLECT_TEST_LONG   set: do the long form
#   PCOLLECT_TEST_KILLS  processes that are killed at any instruction
#   PCOLLECT_TEST_FUZZ   times as many rounds of damaged or random input
#   PCOLLECT_TEST_STORM  rounds of threads, libraries, children and signals while sampled at 10 kHz
#   PCOLLECT_TEST_TABLES programs and libraries, with colons between them, whose unwind tables are compared
#                        with what readelf says of them
#   PCOLLECT_TEST_EXECS  execs in a row, sampled at 10 kHz
#   PCOLLECT_TEST_SEED   where random tests begin; those that fail say it
#   PCOLLECT_TEST_KINDS  kinds of planted faults that findings have to name; all, if not given
check-long:
	@PCOLLECT_TEST_LONG=1 PCOLLECT_TEST_KILLS=$${PCOLLECT_TEST_KILLS-2000} \
	    PCOLLECT_TEST_FUZZ=$${PCOLLECT_TEST_FUZZ-50} \
	    PCOLLECT_TEST_STORM=$${PCOLLECT_TEST_STORM-2000} \
	    PCOLLECT_TEST_EXECS=$${PCOLLECT_TEST_EXECS-3000} $(MAKE) $(AM_MAKEFLAGS) check-all
.PHONY: check-long

# Libraries of test programs that name no _LDADD: all the code that reads profiles. Tests of the code in measured
# processes name the libraries that they link.
LDADD = view/libpcview.la analysis/libpcanalysis.la $(merge_test_libs) $(CMOCKA_LIBS) -lm
merge_test_libs = merge/libpcmerge.la config/libpcconfig.la cct/libpccct.la base/libpcbase.la $(ZLIB_LIBS) -lpthread

# ---- What the folders add to ----
# Unit tests are programs that need cmocka; scripts have the suffix .test.
unit_tests =
script_tests =

check_DATA = tests/stage.stamp
tests/stage.stamp: all
	@$(MAKE) $(AM_MAKEFLAGS) stage && touch $@

EXTRA_DIST += tests/run-test tests/run-unit tests/times.awk tests/private_tmp tests/lib.sh tests/openmpi.sh tests/failures.sh tests/random.h tests/seed.h tests/folder.h tests/used_bytes.h tests/yield.c \
    tests/sleep.c tests/report/sample.c tests/report/sample.h
CLEANFILES += tests/stage.stamp tests/lock tests/lock.turn

# The unit tests of these two take the longest, and run first.
include tests/merge/local.mk
include tests/report/local.mk
include tests/cost/local.mk
include tests/base/local.mk
include tests/walk/local.mk
include tests/core/local.mk
include tests/cct/local.mk
include tests/counting/local.mk
include tests/format/local.mk
include tests/fuzz/local.mk
include tests/config/local.mk
include tests/tools/local.mk
include tests/watch/local.mk
include tests/libpcol/local.mk
include tests/libpccount/local.mk
include tests/mpi/local.mk
include tests/safety/local.mk
include tests/python/local.mk
include tests/sample/local.mk
include tests/project/local.mk

# First come those that need the machine alone (tests/run-test), because one that begins later must wait until all
# others have ended. Then come the longest, so that the last to end is a short one.
first_tests = tests/sample/intervals.test tests/sample/cost.test tests/project/tutorials.test \
    tests/tools/doctor-spool.test tests/mpi/jobs.test tests/project/howto.test tests/watch/hangs.test \
    tests/cost/instructions.test tests/safety/users.test tests/report/page_runs.test tests/report/page.test tests/report/firefox.test \
    tests/report/planted.test tests/safety/late.test \
    tests/safety/late-nodes.test tests/watch/top.test tests/watch/where.test tests/safety/ends.test \
    tests/mpi/adapter.test tests/mpi/truth_fortran.test tests/watch/record.test tests/sample/programs.test \
    tests/sample/confined.test tests/safety/kills.test tests/safety/checkpoints.test tests/tools/run-early.test \
    tests/safety/smallshm.test \
    tests/report/tail_calls.test
TESTS += $(checked_scripts) # by configure.ac, since automake takes functions in TESTS for names
EXTRA_DIST += $(script_tests)

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
