# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/merge/ending_test tests/merge/damage_test tests/merge/reduce_test \
    tests/merge/live_test tests/merge/files_test tests/merge/arena_profile_test tests/merge/room_test tests/merge/fold_test \
    tests/merge/counts_test tests/merge/shares_test tests/merge/route_test tests/merge/module_test
merge_test_common = tests/merge/made_arena.c tests/merge/made_arena.h \
    tests/format/random_profile.c tests/format/told_facts.c \
    tests/format/random_profile.h tests/format/mend.c tests/format/mend.h

tests_merge_arena_profile_test_SOURCES = tests/merge/arena_profile_test.c $(merge_test_common)
merge_test_job = tests/merge/made_job.c tests/merge/made_job.h tests/merge/net.c tests/merge/net.h $(merge_test_common)
tests_merge_reduce_test_SOURCES = tests/merge/reduce_test.c tests/merge/numbering.h $(merge_test_job)
tests_merge_reduce_test_LDFLAGS = -Wl,--wrap=pc_memory_available,--wrap=pc_profile_encode,--wrap=pc_message_send
tests_merge_module_test_SOURCES = tests/merge/module_test.c merge/merge_module.c $(merge_test_job)
# A separate object, because libtool makes that of the module.
tests_merge_module_test_CFLAGS = $(AM_CFLAGS)
tests_merge_ending_test_SOURCES = tests/merge/ending_test.c tests/merge/explorer.c tests/merge/explorer.h \
    tests/merge/choices.c tests/merge/choices.h tests/merge/letters.c tests/merge/letters.h \
    tests/merge/other_ends.c tests/merge/other_ends.h \
    merge/merge_module.c $(merge_test_common)
tests_merge_ending_test_CFLAGS = $(AM_CFLAGS)
tests_merge_ending_test_LDADD = $(command_pcollect_LDADD) $(CMOCKA_LIBS) $(ZLIB_LIBS) -lm -lpthread
tests_merge_ending_test_LDFLAGS = -Wl,--wrap=unlink,--wrap=rmdir,--wrap=rename,--wrap=link,--wrap=linkat,--wrap=pwrite,--wrap=pc_process_look,--wrap=pc_memory_available
tests_merge_damage_test_SOURCES = tests/merge/damage_test.c $(merge_test_common)
tests_merge_fold_test_SOURCES = tests/merge/fold_test.c tests/merge/net.c tests/merge/net.h $(merge_test_common)
tests_merge_shares_test_SOURCES = tests/merge/shares_test.c tests/merge/net.c tests/merge/net.h $(merge_test_common)
tests_merge_shares_test_LDFLAGS = -Wl,--wrap=pc_memory_available
tests_merge_route_test_SOURCES = tests/merge/route_test.c tests/merge/numbering.h
tests_merge_route_test_LDFLAGS = -Wl,--wrap=mmap
tests_merge_files_test_SOURCES = tests/merge/files_test.c $(merge_test_common)
tests_merge_files_test_LDFLAGS = -Wl,--wrap=pread

script_tests += tests/merge/unwritten.test tests/merge/tables.test tests/merge/shares.test
EXTRA_DIST += tests/merge/exchange.c tests/merge/shares.c tests/merge/tables_plug.c tests/merge/unpacked.h
