# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/watch/who_waits_test tests/watch/where_calls_test tests/watch/node_stacks_test tests/watch/jit_dump_test tests/watch/code_files_test tests/watch/watched_processes_test
script_tests += tests/watch/where.test tests/watch/where-nodes.test tests/watch/undisturbed.test tests/watch/hangs.test tests/watch/stat.test tests/watch/record.test tests/watch/record-code.test tests/watch/record-diff.test tests/watch/record-stopped.test tests/watch/waiting.test tests/watch/top.test tests/watch/tableless.test tests/watch/same_names.test tests/watch/small_stack.test
EXTRA_DIST += tests/watch/recording.sh tests/watch/hang.f90 tests/watch/hang.c tests/watch/steady.c tests/watch/own_state.h tests/watch/kill_holder.c tests/watch/faults.c tests/watch/recorded.c tests/watch/waiting.c tests/watch/made_code.c tests/watch/padded.c

tests_watch_who_waits_test_LDADD = watch/libpcwatch.la $(LDADD)
tests_watch_where_calls_test_LDADD = command/libpccommand.la watch/libpcwatch.la $(LDADD)
tests_watch_node_stacks_test_LDADD = watch/libpcwatch.la $(LDADD)
tests_watch_jit_dump_test_LDADD = watch/libpcwatch.la $(LDADD)
tests_watch_code_files_test_LDADD = watch/libpcwatch.la $(LDADD)
tests_watch_watched_processes_test_LDADD = watch/libpcwatch.la $(LDADD)
