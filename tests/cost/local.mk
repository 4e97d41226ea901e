# SPDX-License-Identifier: BSD-3-Clause
cost_scripts = tests/cost/instructions.test
TESTS += $(cost_scripts)
dist_check_SCRIPTS += $(cost_scripts)
EXTRA_DIST += tests/cost/instructions.tsv
