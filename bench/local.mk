# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks print ratios; none runs in make check. Method: bench/README.md.
bench_environment = \
    PC_STAGE='$(stage)' PC_SRC='$(abs_top_srcdir)' PC_BENCH='$(abs_top_builddir)/bench/work' \
    MPIRUN_OPENMPI='$(MPIRUN_OPENMPI)' MPIRUN_MPICH='$(MPIRUN_MPICH)' \
    MPICC_OPENMPI='$(MPICC_OPENMPI)' MPICC_MPICH='$(MPICC_MPICH)'

EXTRA_DIST += bench/README.md bench/call.c bench/bare.c bench/call.sh bench/call.awk bench/plot.awk \
    bench/sample.c bench/sample.sh

# BENCH_FLAGS: --rounds N, --mpi NAME, --peer NAME=PRELOAD.so[,ENV=VALUE...]
bench-call: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/call.sh $(BENCH_FLAGS)

bench-quick: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/call.sh --quick $(BENCH_FLAGS)

# SECONDS a depth: BENCH_FLAGS
bench-sample: stage
	@$(SHELL) $(srcdir)/bench/sample.sh $(stage) $(BENCH_FLAGS)

.PHONY: bench-call bench-quick bench-sample
