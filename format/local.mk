# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += format/libpcformat.la
format_libpcformat_la_SOURCES = format/profile.h format/build.h format/bytes.h \
    format/pool.h format/pool.c format/profile.c format/data.c format/check.c format/profile_code.c format/profile_merge.c \
    format/data_code.c format/list_code.c format/columns.h format/columns.c format/table.c format/pcol.c format/pcol_write.c format/pcol_read.c format/pcol_late.c
format_libpcformat_la_CFLAGS = $(PC_FLAGS) $(ZLIB_CFLAGS)
format_libpcformat_la_LIBADD = base/libpcbase.la $(ZLIB_LIBS)
