# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/watch/where.test tests/watch/stat.test tests/watch/record.test tests/watch/top.test
EXTRA_DIST += tests/watch/hang.f90 tests/watch/hang.c tests/watch/steady.c tests/watch/faults.c tests/watch/recorded.c
