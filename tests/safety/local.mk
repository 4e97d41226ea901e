# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/safety/bystanders.test tests/safety/attributes.test tests/safety/checkpoints.test tests/safety/descriptors.test tests/safety/before_init.test tests/safety/cancelled.test tests/safety/ends.test tests/safety/filters.test tests/safety/forks.test \
    tests/safety/hosts.test tests/safety/hung.test tests/safety/kills.test tests/safety/late.test tests/safety/late-nodes.test tests/safety/lines.test tests/safety/missing.test tests/safety/mixed.test tests/safety/namesakes.test tests/safety/plugins.test \
    tests/safety/quiet.test tests/safety/state.test tests/safety/strange.test \
    tests/safety/oom.test tests/safety/taken.test tests/safety/surroundings.test tests/safety/smallshm.test tests/safety/threads.test tests/safety/tools.test tests/safety/users.test
check_PROGRAMS += tests/safety/plugin_values
tests_safety_plugin_values_LDADD = format/libpcformat.la base/libpcbase.la $(ZLIB_LIBS)
EXTRA_DIST += tests/safety/attributes.c tests/safety/attributes_f.f90 tests/safety/clocks.c tests/safety/strange.c tests/safety/descriptors.c tests/safety/before_init.c tests/safety/cancelled.c tests/safety/ends.c tests/safety/filters.c tests/safety/ends_library.c \
    tests/safety/forks.c tests/safety/hosts.c tests/safety/hosts_module.c tests/safety/hung.c tests/safety/lines.c \
    tests/safety/plugin_wrong.c tests/safety/quiet.c \
    tests/safety/quiet.h tests/safety/quiet_tool.c tests/safety/interrupted.c tests/safety/stacks.c tests/safety/kept_state.c tests/safety/kills.c tests/safety/held_map.c tests/safety/held_writer.c \
    tests/safety/state_tool.c tests/safety/state_tool.h \
    tests/safety/oom.c tests/safety/taken.c tests/safety/surroundings.c tests/safety/smallshm.c tests/safety/threads.c tests/safety/tools_program.c tests/safety/tools_tool.c
