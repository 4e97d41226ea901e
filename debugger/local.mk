# SPDX-License-Identifier: BSD-3-Clause
# Commands for gdb, which a user loads: gdb -x $(datadir)/pcollect/pcollect-gdb.py
debuggerdir = $(datadir)/pcollect
dist_debugger_DATA = debugger/pcollect-gdb.py
