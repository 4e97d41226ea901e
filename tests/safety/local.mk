# SPDX-License-Identifier: BSD-3-Clause
safety_tests = tests/safety/bystanders.test tests/safety/ends.test tests/safety/forks.test
TESTS += $(safety_tests)
EXTRA_DIST += $(safety_tests) tests/safety/ends.c tests/safety/ends_library.c \
    tests/safety/forks.c
