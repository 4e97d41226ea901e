# SPDX-License-Identifier: BSD-3-Clause
mpi_scripts = tests/mpi/examples.test
TESTS += $(mpi_scripts)
dist_check_SCRIPTS += $(mpi_scripts)
