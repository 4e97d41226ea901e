# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/libpcol/libpcol.test
EXTRA_DIST += tests/libpcol/print_tables.c tests/libpcol/no_memory.c tests/libpcol/print_tree.c \
    tests/libpcol/compare_json.py
