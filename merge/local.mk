# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += merge/libpcmerge.la
merge_libpcmerge_la_SOURCES = merge/merge.h merge/transport.h merge/image.h merge/image.c merge/arena_profile.c \
    merge/arena_tree.c merge/arena_records.c merge/arena_rows.c merge/record_counts.h merge/record_counts.c merge/lists.h merge/lists.c merge/fold.h merge/fold.c merge/room.h merge/room.c merge/reduce.c \
    merge/board.h merge/board.c \
    merge/arena_file.h merge/arena_file.c merge/arena_renew.h merge/arena_renew.c merge/files.c
merge_libpcmerge_la_LIBADD = merge/libpcmessage.la format/libpcformat.la

# The parts of the merge that libpcollect.so itself needs.
noinst_LTLIBRARIES += merge/libpcmessage.la
merge_libpcmessage_la_SOURCES = merge/message.h merge/message.c merge/route.h merge/route.c merge/module.h merge/ending.h merge/meet.c

# The module that libpcollect.so opens when it merges: only this module needs zlib.
pcollectlib_LTLIBRARIES += merge/pcollect-merge.la
merge_pcollect_merge_la_SOURCES = merge/module.h merge/merge_module.c
merge_pcollect_merge_la_LIBADD = merge/libpcmerge.la
merge_pcollect_merge_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs $(ZLIB_INSIDE) \
    -export-symbols-regex '^pc_merge_module$$'
