# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/counting/counting_test
tests_counting_counting_test_LDADD = counting/libpccounting.la base/libpcbase.la $(CMOCKA_LIBS)

script_tests += tests/counting/start.test tests/counting/edges.test tests/counting/hardware.test
EXTRA_DIST += tests/counting/edge_faults.c tests/counting/filtered.c tests/counting/crowd.c \
    tests/counting/shared_counters.c \
    tests/pmu-lab/boot.sh tests/pmu-lab/guest.sh tests/pmu-lab/checks.sh tests/pmu-lab/loop.h \
    tests/pmu-lab/loops.c tests/pmu-lab/known.c tests/pmu-lab/rights.c
