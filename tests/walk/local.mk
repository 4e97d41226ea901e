# SPDX-License-Identifier: BSD-3-Clause
walk_test_libs = libcollect/libpcwalk.la base/libpcbase.la $(CMOCKA_LIBS)
walk_test_frames = tests/walk/frames.h tests/walk/frames_o0.c tests/walk/frames_o2.c \
    tests/walk/scenarios.c tests/walk/walkers.h
EXTRA_DIST += tests/walk/frames.inc tests/walk/plain.c tests/walk/frames_cxx.cc

check_LTLIBRARIES += tests/walk/libframes_omit.la
tests_walk_libframes_omit_la_SOURCES = tests/walk/frames_omit.c
tests_walk_libframes_omit_la_CFLAGS = $(PC_FLAGS) -fomit-frame-pointer

unit_tests += tests/walk/oracle_test tests/walk/walk_test tests/walk/walk_scan_test \
    tests/walk/damaged_test tests/walk/reload_test tests/walk/reload_scan_test
script_tests += tests/walk/processors.test tests/walk/exceptions.test
tests_walk_oracle_test_LDADD = $(walk_test_libs)

if HAVE_LIBUNWIND
walk_test_unwind = -DHAVE_LIBUNWIND=1 $(LIBUNWIND_CFLAGS)
endif
tests_walk_walk_test_SOURCES = tests/walk/walk_test.c $(walk_test_frames)
tests_walk_walk_test_CFLAGS = $(AM_CFLAGS) $(walk_test_unwind)
# Lazy binding: the loader's resolver has a CFA by rbx, which its callees save.
tests_walk_walk_test_LDFLAGS = -Wl,-z,lazy
tests_walk_walk_test_LDADD = tests/walk/libframes_omit.la $(walk_test_libs) $(LIBUNWIND_LIBS)

tests_walk_damaged_test_LDADD = $(walk_test_libs)

# Walks against a load map without _dl_find_object.
walk_scan = $(libcollect_libpcwalk_la_SOURCES)
walk_scan_flags = -DPC_LOADMAP_BY_SCAN=1
tests_walk_walk_scan_test_SOURCES = $(tests_walk_walk_test_SOURCES) $(walk_scan)
tests_walk_walk_scan_test_CFLAGS = $(tests_walk_walk_test_CFLAGS) $(walk_scan_flags)
tests_walk_walk_scan_test_LDFLAGS = $(tests_walk_walk_test_LDFLAGS)
tests_walk_walk_scan_test_LDADD = tests/walk/libframes_omit.la base/libpcbase.la $(CMOCKA_LIBS) \
    $(LIBUNWIND_LIBS)

# Three libraries that reload_test opens.
walk_module_flags = -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += tests/walk/module_small.la tests/walk/module_large.la tests/walk/module_other.la
tests_walk_module_small_la_SOURCES = tests/walk/module.c
tests_walk_module_small_la_CFLAGS = $(PC_FLAGS) -fvisibility=default -fomit-frame-pointer \
    -DFRAME_BYTES=256
tests_walk_module_small_la_LDFLAGS = $(walk_module_flags)
tests_walk_module_large_la_SOURCES = tests/walk/module.c
tests_walk_module_large_la_CFLAGS = $(PC_FLAGS) -fvisibility=default -fomit-frame-pointer \
    -DFRAME_BYTES=3072
tests_walk_module_large_la_LDFLAGS = $(walk_module_flags)
tests_walk_module_other_la_SOURCES = tests/walk/module.c
tests_walk_module_other_la_CFLAGS = $(tests_walk_module_small_la_CFLAGS)
tests_walk_module_other_la_LDFLAGS = $(walk_module_flags)

reload_test_sources = tests/walk/reload_test.c tests/walk/frames.h tests/walk/walkers.h
tests_walk_reload_test_SOURCES = $(reload_test_sources)
tests_walk_reload_test_LDADD = $(walk_test_libs)
tests_walk_reload_scan_test_SOURCES = $(reload_test_sources) $(walk_scan)
tests_walk_reload_scan_test_CFLAGS = $(AM_CFLAGS) $(walk_scan_flags)
tests_walk_reload_scan_test_LDADD = base/libpcbase.la $(CMOCKA_LIBS)
