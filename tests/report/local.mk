# SPDX-License-Identifier: BSD-3-Clause
if HAVE_LIBDW
check_PROGRAMS += tests/report/where
TESTS += tests/report/symbols.test
endif
EXTRA_DIST += tests/report/symbols.test tests/report/program/part.c tests/report/program/part.h \
    tests/report/program/part_main.cc tests/report/program/part.f90

tests_report_where_SOURCES = tests/report/where.c
tests_report_where_CFLAGS = $(PC_FLAGS)
tests_report_where_LDADD = report/libpcreport.la

EXTRA_DIST += tests/report/golden tests/report/golden.test tests/report/text_test.c \
    tests/report/model_test.c tests/report/show.c tests/report/json_check.c tests/report/sample.c \
    tests/report/sample.h
