#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a measured MPI call costs: bench/README.md has the method.
# usage: call.sh [--quick] [--rounds N] [--mpi openmpi|mpich] [--peer NAME=PRELOAD.so[,ENV=VALUE...]]...
# Environment: PC_STAGE (installed tree), PC_SRC, PC_BENCH (folder for what is built and measured),
# MPICC_*, MPIRUN_*. JSON lines go to $PC_BENCH/call.jsonl, the table to standard output.
set -u
rounds=7 quick=no mpis="openmpi mpich" peers=
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes rounds=3 ;;
    --rounds) rounds=$2 && shift ;;
    --mpi) mpis=$2 && shift ;;
    --peer) peers="$peers $2" && shift ;;
    *)
        echo "call.sh: unknown option $1 (known: --quick --rounds N --mpi NAME --peer NAME=FILE[,ENV=VALUE])" >&2
        exit 2
        ;;
    esac
    shift
done
: "${PC_STAGE:?} ${PC_SRC:?} ${PC_BENCH:?}"
mkdir -p "$PC_BENCH"
json=$PC_BENCH/call.jsonl
: >"$json"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_hwloc_base_binding_policy=none

mpicc_of() { case $1 in openmpi) echo "${MPICC_OPENMPI:-}" ;; *) echo "${MPICC_MPICH:-}" ;; esac; }

# build MPI: the program and the bare wrapper
build() {
    cc=$(mpicc_of "$1")
    [ -n "$cc" ] || return 1
    "$cc" -D_GNU_SOURCE -O2 -g "$PC_SRC/bench/call.c" -o "$PC_BENCH/call.$1" &&
        "$cc" -O2 -fPIC -shared "$PC_SRC/bench/bare.c" -o "$PC_BENCH/bare.$1.so"
}

# run MPI RANKS PRELOAD ENV... -- ARGUMENTS: the program's nanoseconds a call
run() {
    mpi=$1 ranks=$2 preload=$3
    shift 3
    environment=
    while [ "$1" != -- ]; do
        environment="$environment $1"
        shift
    done
    shift
    [ -n "$preload" ] && environment="$environment LD_PRELOAD=$preload"
    case $mpi in
    openmpi)
        flags=
        for e in $environment; do flags="$flags -x $e"; done
        # shellcheck disable=SC2086
        "$MPIRUN_OPENMPI" -n "$ranks" $flags "$PC_BENCH/call.$mpi" "$@" 2>/dev/null | cut -d' ' -f1
        ;;
    mpich)
        flags=
        for e in $environment; do flags="$flags -genv ${e%%=*} ${e#*=}"; done
        # shellcheck disable=SC2086
        "$MPIRUN_MPICH" $flags -n "$ranks" "$PC_BENCH/call.$mpi" "$@" 2>/dev/null | cut -d' ' -f1
        ;;
    esac
}

# variant NAME: "PRELOAD ENV..."
variant() {
    case $1 in
    none) echo "" ;;
    bare) echo "$PC_BENCH/bare.$mpi_now.so" ;;
    pcollect) echo "$PC_STAGE/lib/libpcollect.so PCOLLECT_OUTPUT_PATH=$PC_BENCH/call.pcol" ;;
    *) for p in $peers; do [ "${p%%=*}" = "$1" ] && echo "${p#*=}" | tr ',' ' '; done ;;
    esac
}

# One line of the table: alternating rounds of all variants.
situation() {
    label=$1 ranks=$2
    shift 2
    values=$PC_BENCH/values
    : >"$values"
    names="none bare pcollect"
    for p in $peers; do names="$names ${p%%=*}"; done
    r=0
    while [ $r -lt "$rounds" ]; do
        for v in $names; do
            # shellcheck disable=SC2046
            set -- "$@" -- $(variant $v)
            # The arguments of the program come first, then --, then preload and environment.
            arguments= preload= environment= seen=no
            for a; do
                if [ "$a" = -- ]; then
                    seen=yes
                elif [ $seen = no ]; then
                    arguments="$arguments $a"
                elif [ -z "$preload" ]; then
                    preload=$a
                else
                    environment="$environment $a"
                fi
            done
            # shellcheck disable=SC2086
            echo "$r $v $(run "$mpi_now" "$ranks" "$preload" $environment -- $arguments)" >>"$values"
            # shellcheck disable=SC2086
            set -- $arguments
        done
        r=$((r + 1))
    done
    awk -v mpi="$mpi_now" -v label="$label" -v ranks="$ranks" -v json="$json" -f "$PC_SRC/bench/call.awk" "$values"
}

facts() {
    model=$(awk -F': *' '/model name/ {print $2; exit}' /proc/cpuinfo)
    printf 'machine: %s, %s cores, Linux %s, %s\n' "${model:-$(uname -m)}" "$(nproc)" "$(uname -r)" \
        "$(cc --version | head -n1)"
    printf '{"machine":"%s","cores":%s,"kernel":"%s"}\n' "${model:-$(uname -m)}" "$(nproc)" "$(uname -r)" >>"$json"
    printf 'rounds: %s; added ns a call = with - without, paired in each round; median (least..most)\n\n' "$rounds"
}

facts
for mpi_now in $mpis; do
    build "$mpi_now" || {
        echo "$mpi_now: not installed, left out"
        continue
    }
    printf '%-8s %-28s %9s %20s %20s %7s\n' mpi situation 'call ns' 'bare: added ns' 'pcollect: added ns' ratio
    if [ $quick = yes ]; then
        situation "comm_rank depth 20" 1 comm_rank depth=20
        situation "iprobe depth 20" 1 iprobe depth=20
        situation "comm_rank 512 paths" 1 comm_rank depth=20 paths=512
        situation "comm_rank 1000 contexts" 1 comm_rank depth=20 contexts=1000
        continue
    fi
    for depth in 5 20 50 200; do situation "comm_rank depth $depth" 1 comm_rank depth=$depth; done
    for depth in 5 20 50 200; do situation "iprobe depth $depth" 1 iprobe depth=$depth; done
    situation "irecv+send+wait depth 20" 1 self depth=20
    situation "allreduce 1 rank" 1 allreduce depth=20
    situation "allreduce 2 ranks" 2 allreduce depth=20
    situation "ping-pong 0 B" 2 pingpong0 depth=20
    situation "ping-pong 1 KiB" 2 pingpong1k depth=20
    for n in 10 100 500; do situation "comm_rank $n sites" 1 comm_rank depth=20 sites=$n; done
    for n in 2 8 64 512; do situation "comm_rank $n paths" 1 comm_rank depth=20 paths=$n; done
    for n in 10 100 1000 10000 100000; do
        situation "comm_rank $n contexts" 1 comm_rank depth=20 contexts=$n calls=100000
    done
    situation "comm_rank new contexts" 1 comm_rank depth=20 contexts=-1 calls=2000
done
echo
echo "JSON lines: $json"
