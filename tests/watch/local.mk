# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/watch/where.test
EXTRA_DIST += tests/watch/hang.f90 tests/watch/hang.c tests/watch/steady.c
