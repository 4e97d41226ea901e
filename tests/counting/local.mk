# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
check_PROGRAMS += tests/counting/counting_test
TESTS += tests/counting/counting_test
endif
tests_counting_counting_test_SOURCES = tests/counting/counting_test.c
tests_counting_counting_test_CFLAGS = $(test_cflags)
tests_counting_counting_test_LDADD = counting/libpccounting.la base/libpcbase.la $(CMOCKA_LIBS)

counting_scripts = tests/counting/start.test tests/counting/edges.test tests/counting/hardware.test
TESTS += $(counting_scripts)
dist_check_SCRIPTS += $(counting_scripts)
EXTRA_DIST += tests/counting/edges.c tests/counting/filtered.c tests/counting/crowd.c \
    tests/pmu-lab/boot.sh tests/pmu-lab/guest.sh tests/pmu-lab/checks.sh tests/pmu-lab/loop.h \
    tests/pmu-lab/loops.c tests/pmu-lab/known.c
