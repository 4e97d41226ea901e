# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += doc/internals
EXTRA_DIST += doc/json.md doc/tutorial.md
EXTRA_DIST += doc/howto
