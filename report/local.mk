# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += report/libpcreport.la
report_libpcreport_la_SOURCES = report/report.h report/report.c
