# SPDX-License-Identifier: BSD-3-Clause
# The examples are not built here: they need an MPI's compiler wrapper. examples/Makefile builds
# them, also after installation; tests/mpi/examples.test does so for each MPI.
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = examples/poisson.c examples/halo_mpi.f90 examples/halo_f08.f90 \
    examples/Makefile
examplecountdir = $(examplesdir)/count
dist_examplecount_DATA = examples/count/self.c examples/count/spawn.c examples/count/attach.c examples/count/machine.c
examplepluginsdir = $(examplesdir)/plugin
dist_exampleplugins_DATA = examples/plugin/tags.c examples/plugin/Makefile
