# SPDX-License-Identifier: BSD-3-Clause
walk_test_libs = libcollect/libpcwalk.la base/libpcbase.la $(CMOCKA_LIBS)
walk_test_frames = tests/walk/frames.h tests/walk/frames_o0.c tests/walk/frames_o2.c \
    tests/walk/scenarios.c tests/walk/walkers.h
EXTRA_DIST += tests/walk/frames.inc

check_LTLIBRARIES += tests/walk/libframes_omit.la
tests_walk_libframes_omit_la_SOURCES = tests/walk/frames_omit.c
tests_walk_libframes_omit_la_CFLAGS = $(PC_FLAGS) -fomit-frame-pointer

if HAVE_CMOCKA
check_PROGRAMS += tests/walk/oracle_test tests/walk/walk_test
TESTS += tests/walk/oracle_test tests/walk/walk_test
endif
tests_walk_oracle_test_CFLAGS = $(test_cflags)
tests_walk_oracle_test_LDADD = $(walk_test_libs)

if HAVE_LIBUNWIND
walk_test_unwind = -DHAVE_LIBUNWIND=1 $(LIBUNWIND_CFLAGS)
endif
tests_walk_walk_test_SOURCES = tests/walk/walk_test.c $(walk_test_frames)
tests_walk_walk_test_CFLAGS = $(test_cflags) $(walk_test_unwind)
# No lazy binding: the loader's resolver has a CFA by rbx, which an interrupt does not know.
tests_walk_walk_test_LDFLAGS = -Wl,-z,now
tests_walk_walk_test_LDADD = tests/walk/libframes_omit.la $(walk_test_libs) $(LIBUNWIND_LIBS)
