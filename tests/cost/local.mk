# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/cost/instructions.test
EXTRA_DIST += tests/cost/instructions.tsv
