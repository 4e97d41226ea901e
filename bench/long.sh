#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A long run of one rank: bench/long.sh [STAGES [CALLS [SECONDS]]]
# 20 stages of 5,000,000 calls and 7 s of CPU time: 10^8 calls and, at 10,000 interrupts a second, 10^6
# samples. Prints the bytes of the arena and what the library adds to a call, by stage, with each MPI.
set -eu
stages=${1:-20} calls=${2:-5000000} seconds=${3:-7}
: "${PC_STAGE:?}" "${PC_SRC:?}"
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT

run() { # MPI STAGES SECONDS [ENV=VALUE...]: the lines of the program
    case $1 in openmpi) launcher=$MPIRUN_OPENMPI ;; *) launcher=$MPIRUN_MPICH ;; esac
    run_stages=$2 run_seconds=$3 program=$work/long.$1
    shift 3
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$launcher" -n 1 env "$@" \
        "$program" "$run_stages" "$calls" "$run_seconds" 2>/dev/null
}

measure() { # MPI COMPILER
    "$2" -O2 -g -I"$PC_SRC" "$PC_SRC/bench/long_cost.c" -o "$work/long.$1"
    echo "$1"
    rm -f "$work/x.pcol"
    bare=$(run "$1" 1 0 | awk '{ print $2 }')
    run "$1" "$stages" "$seconds" LD_PRELOAD="$PC_STAGE/lib/libpcollect.so" PCOLLECT_SPOOL_PATH="$work" \
        PCOLLECT_SAMPLE_FREQUENCY=10000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100 PCOLLECT_OUTPUT_PATH="$work/x.pcol" |
        awk -v bare="$bare" -v stages="$stages" '
            { ns[NR] = $2 - bare; bytes[NR] = $3 }
            NR <= 2 || NR == int(stages / 2) || NR == stages {
                printf "  %11d calls  %7.1f ns added to a call of %.1f ns  %8d bytes\n", $1, ns[NR], bare, bytes[NR]
            }
            END {
                least = most = ns[1]
                for (i in ns) {
                    if (ns[i] < least) least = ns[i]
                    if (ns[i] > most) most = ns[i]
                }
                printf "  last / first stage: %.2f (all stages: %.1f to %.1f ns)\n", ns[NR] / ns[1], least, most
            }'
    "$PC_STAGE/bin/pcollect" report --table sampling "$work/x.pcol" 2>/dev/null | awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { n += $at["interrupts"]; cost += $at["cost"] }
        END { printf "  %d samples of %.0f ns\n", n, n ? cost / n * 1e9 : 0 }'
    echo "  profile: $(wc -c <"$work/x.pcol") bytes"
}

[ -z "${MPICC_OPENMPI-}" ] || measure openmpi "$MPICC_OPENMPI"
[ -z "${MPICC_MPICH-}" ] || measure mpich "$MPICC_MPICH"
