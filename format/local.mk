# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += format/libpcformat.la
format_libpcformat_la_SOURCES = format/profile.h format/team_runtime.h format/build.h format/bytes.h \
    format/pool.h format/pool.c format/profile.c format/record_data.c format/check.c format/profile_code.c format/profile_merge.c format/profile_sum.c \
    format/rank_code.c format/stat_code.h format/record_code.c format/record_rows.h format/record_rows.c format/list_code.c format/rank_set.h format/rank_set.c format/value_blocks.h format/value_blocks.c format/value_columns.c format/value_shares.h format/value_shares.c format/profile_table.c format/table_rows.h format/table_rows.c format/later_rows.c format/later_contexts.h format/later_contexts.c format/contexts.h format/contexts.c format/pcol.c format/pcol_place.c format/unpack.h format/unpack.c format/new_file.h format/new_file.c format/pcol_write.c format/pcol_read.c format/pcol_late.c format/pcol_slots.c
format_libpcformat_la_CFLAGS = $(PC_FLAGS) $(ZLIB_CFLAGS)
format_libpcformat_la_LIBADD = base/libpcbase.la
