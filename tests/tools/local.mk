# SPDX-License-Identifier: BSD-3-Clause
tools_tests = tests/tools/command.test tests/tools/config.test tests/tools/run.test \
    tests/tools/run-mpi.test tests/tools/manual.test
TESTS += $(tools_tests)
EXTRA_DIST += $(tools_tests) tests/tools/preload.c
