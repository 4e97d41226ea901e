# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/libpccount/libpccount.test
EXTRA_DIST += tests/libpccount/self_count.c tests/libpccount/self_count.f90
