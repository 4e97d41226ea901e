# SPDX-License-Identifier: BSD-3-Clause
# Settings with which Open MPI starts jobs on one machine: as root, with more ranks than processors, and in containers
# where ranks may not read each other's memory, which would only print a warning. Versions below 5 have the first names,
# later ones those of PRRTE. Sourced by the tests, the benchmarks, .ci and quickstart.sh.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
