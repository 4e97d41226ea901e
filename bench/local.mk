# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks print ratios; none runs in make check. Method: bench/README.md.
bench_environment = \
    PC_STAGE='$(stage)' PC_SRC='$(abs_top_srcdir)' PC_BENCH='$(abs_top_builddir)/bench/work' \
    MPIRUN_OPENMPI='$(MPIRUN_OPENMPI)' MPIRUN_MPICH='$(MPIRUN_MPICH)' \
    MPICC_OPENMPI='$(MPICC_OPENMPI)' MPICC_MPICH='$(MPICC_MPICH)' \
    MPIFC_OPENMPI='$(MPIFC_OPENMPI)' MPIFC_MPICH='$(MPIFC_MPICH)'

EXTRA_DIST += bench/README.md bench/call_cost.c bench/call_f.F90 bench/bare.c bench/call.sh bench/call.awk bench/rows.txt \
    bench/plot.awk bench/ranks.awk bench/page.awk bench/page.sh bench/start.c bench/start_mpi.c bench/start.sh \
    bench/sample_cost.c bench/sample_floor.c bench/sample.sh bench/read.sh bench/merge.sh bench/recover.sh bench/long.sh bench/long_cost.c bench/symbols.sh \
    bench/rotation.awk bench/rotation.sh bench/record.sh bench/record_cost.c bench/count.sh bench/count_cost.c \
    bench/html.sh bench/html_cost.py bench/rank.sh

# BENCH_FLAGS: --rounds N, --minutes N, --rows TEXT, --resume, --mpi NAME,
# --peer NAME=PRELOAD.so[,ENV=VALUE...]
bench-call: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/call.sh $(BENCH_FLAGS)

bench-quick: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/call.sh --quick $(BENCH_FLAGS)

# Time that the start and the end take. BENCH_FLAGS: --pairs N, --ranks N, --contexts N
bench-start: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/start.sh $(BENCH_FLAGS)

# Renews doc/performance.md: at most 8 minutes, on a quiet machine.
bench-page: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/page.sh $(BENCH_FLAGS)

# A run of 10^8 calls and 10^6 samples with each MPI: 5 minutes. BENCH_FLAGS: stages, calls and seconds of each
bench-long: stage
	@$(bench_environment) $(SHELL) $(srcdir)/bench/long.sh $(BENCH_FLAGS)

# BENCH_FLAGS: seconds per depth
bench-sample: stage
	@$(SHELL) $(srcdir)/bench/sample.sh $(stage) $(BENCH_FLAGS)

# Cost of sampling from outside, compared with that of perf record. BENCH_FLAGS: rounds
bench-record: stage
	@$(SHELL) $(srcdir)/bench/record.sh $(stage) $(BENCH_FLAGS)

# Cost of counting a stretch with libpccount, compared with that of PAPI. BENCH_FLAGS: rounds
bench-count: stage
	@$(SHELL) $(srcdir)/bench/count.sh $(stage) $(BENCH_FLAGS)

# Renews doc/rotation.svg: three minutes.
bench-rotation: stage
	@mkdir -p bench/work
	@$(SHELL) $(srcdir)/bench/rotation.sh $(stage) $(srcdir) >bench/work/rotation
	@awk -f $(srcdir)/bench/rotation.awk bench/work/rotation >$(srcdir)/doc/rotation.svg

# Time and memory for reading large profiles.
EXTRA_PROGRAMS = bench/read
bench_read_SOURCES = bench/read_cost.c
bench_read_CFLAGS = $(PC_FLAGS)
bench_read_LDADD = format/libpcformat.la base/libpcbase.la $(ZLIB_LIBS)

bench-read: command/pcollect bench/read tests/report/grown bench/merge
	@$(SHELL) $(srcdir)/bench/read.sh command/pcollect bench/read tests/report/grown bench/merge

# Time of the page of a large profile in Chromium. BENCH_FLAGS: rounds
bench-html: command/pcollect bench/read
	@$(SHELL) $(srcdir)/bench/html.sh command/pcollect bench/read $(BENCH_FLAGS)

# Time and memory of the reduction over 64 to 100,000 ranks: 20 minutes. BENCH_FLAGS: one job
EXTRA_PROGRAMS += bench/merge
bench_merge_SOURCES = bench/merge_cost.c bench/merge_ranks.c bench/merge_ranks.h bench/merge_tree.c bench/merge_tree.h
bench_merge_CFLAGS = $(PC_FLAGS)
bench_merge_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
bench_merge_LDADD = merge/libpcmerge.la $(ZLIB_LIBS)

bench-merge: bench/merge
	@$(SHELL) $(srcdir)/bench/merge.sh bench/merge $(BENCH_FLAGS)

# Time and memory of recovery over many arenas. BENCH_FLAGS: one job
EXTRA_PROGRAMS += bench/arenas
bench_arenas_SOURCES = bench/arenas.c
bench_arenas_CFLAGS = $(PC_FLAGS)
bench_arenas_LDADD = cct/libpccct.la base/libpcbase.la

bench-recover: command/pcollect bench/read bench/arenas
	@$(SHELL) $(srcdir)/bench/recover.sh command/pcollect bench/read bench/arenas $(BENCH_FLAGS)

# Instructions and memory that the merge takes of each rank. BENCH_FLAGS: RANKS CONTEXTS
EXTRA_PROGRAMS += bench/rank
bench_rank_SOURCES = bench/rank_cost.c
bench_rank_CFLAGS = $(PC_FLAGS)
bench_rank_LDADD = merge/libpcmerge.la $(ZLIB_LIBS)

bench-rank: bench/rank bench/arenas
	@$(SHELL) $(srcdir)/bench/rank.sh bench/arenas bench/rank $(BENCH_FLAGS)

# Time for finding the names of places in a large program.
bench-symbols: command/pcollect bench/read
	@$(SHELL) $(srcdir)/bench/symbols.sh command/pcollect bench/read

.PHONY: bench-html bench-call bench-quick bench-start bench-page bench-sample bench-record bench-count bench-rotation bench-read bench-long bench-merge bench-rank bench-recover bench-symbols
