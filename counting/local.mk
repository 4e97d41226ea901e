# SPDX-License-Identifier: BSD-3-Clause
noinst_HEADERS += counting/counting.h
