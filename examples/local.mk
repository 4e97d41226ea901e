# SPDX-License-Identifier: BSD-3-Clause
# The examples are not built here: they need an MPI's compiler wrapper. examples/Makefile builds
# them, also after installation; tests/mpi/examples.test does so for each MPI.
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = examples/poisson.c examples/halo_mpi.f90 examples/halo_f08.f90 \
    examples/Makefile
examplepluginsdir = $(examplesdir)/plugin
dist_exampleplugins_DATA = examples/plugin/tags.c examples/plugin/Makefile
