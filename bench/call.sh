#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the cost of an MPI call that is measured: bench/README.md has the method, bench/rows.txt the situations.
# usage: call.sh [--quick] [--rounds N] [--minutes N] [--rows TEXT] [--resume]
#                [--mpi openmpi|mpich] [--peer NAME=PRELOAD.so[,ENV=VALUE...]]...
# Environment: PC_STAGE (installed tree), PC_SRC, PC_BENCH (folder for built programs and results), MPICC_*, MPIFC_*,
# MPIRUN_*. Each figure is written to $PC_BENCH/call.tsv as soon as it was measured; at the end JSON lines go to
# $PC_BENCH/call.jsonl and the table to standard output. Progress: standard error.
set -u
rounds=7 minutes= quick=no only= resume=no mpis="openmpi mpich" peers=
usage="known: --quick --resume --rounds N --minutes N --rows TEXT --mpi NAME --peer NAME=FILE[,ENV=VALUE]"
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes rounds=3 ;;
    --resume) resume=yes ;;
    --rounds | --minutes | --rows | --mpi | --peer)
        [ $# -gt 1 ] || {
            echo "call.sh: $1 needs a value" >&2
            exit 2
        }
        case $1 in
        --rounds) rounds=$2 ;;
        --minutes) minutes=$2 ;;
        --rows) only=$2 ;;
        --mpi) mpis=$2 ;;
        --peer) peers="$peers $2" ;;
        esac
        shift
        ;;
    *)
        echo "call.sh: unknown option $1 ($usage)" >&2
        exit 2
        ;;
    esac
    shift
done
: "${PC_STAGE:?} ${PC_SRC:?} ${PC_BENCH:?}"
mkdir -p "$PC_BENCH" || exit 1
taken=$PC_BENCH/call.tsv
[ $resume = yes ] || : >"$taken"
[ -e "$taken" ] || : >"$taken"
begin=$(date +%s)

. "$PC_SRC/tests/openmpi.sh"
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
unset LD_PRELOAD
for name in $(env | sed -n 's/^\(PCOLLECT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done

mpicc_of() { case $1 in openmpi) echo "${MPICC_OPENMPI:-}" ;; *) echo "${MPICC_MPICH:-}" ;; esac; }
mpifc_of() { case $1 in openmpi) echo "${MPIFC_OPENMPI:-}" ;; *) echo "${MPIFC_MPICH:-}" ;; esac; }

# build MPI: the programs and the bare wrapper
build() {
    cc=$(mpicc_of "$1") fc=$(mpifc_of "$1")
    [ -n "$cc" ] || {
        echo "$1: not installed, left out" >&2
        return 1
    }
    rm -f "$PC_BENCH/call_f.$1"
    # gcc 12 takes MPICH's MPI_STATUSES_IGNORE for an array that is too short; clang knows no such warning.
    "$cc" -Wno-unknown-warning-option -Wno-stringop-overflow -D_GNU_SOURCE -O2 -g "$PC_SRC/bench/call_cost.c" -o "$PC_BENCH/call.$1" -pthread &&
        "$cc" -O2 -fPIC -shared "$PC_SRC/bench/bare.c" -o "$PC_BENCH/bare.$1.so" || return 1
    [ -n "$fc" ] && (cd "$PC_BENCH" && "$fc" -O2 -g -fno-inline -fno-optimize-sibling-calls "$PC_SRC/bench/call_f.F90" -o "call_f.$1") ||
        echo "$1: there is no Fortran compiler, its situations are left out" >&2
}

# preload_of MPI VARIANT PLUGINS: "PRELOAD ENV=VALUE..."
preload_of() {
    case $2 in
    none) ;;
    bare) echo "$PC_BENCH/bare.$1.so" ;;
    pcollect)
        echo "$PC_STAGE/lib/libpcollect.so PCOLLECT_OUTPUT_PATH=$PC_BENCH/call.pcol" \
            ${3:+PCOLLECT_COLLECT_PLUGINS=$3}
        ;;
    *) for p in $peers; do [ "${p%%=*}" = "$2" ] && echo "${p#*=}" | tr ',' ' '; done ;;
    esac
}

# measure MPI VARIANT PLUGINS RANKS PROGRAM ARGUMENT...: nanoseconds per call; nothing if it failed
measure() {
    rm -f "$PC_BENCH/call.pcol"
    mpi=$1 ranks=$4 program=$5 words=
    # shellcheck disable=SC2046 # words
    set -- $(preload_of "$1" "$2" "$3") -- "$@"
    if [ "$1" != -- ]; then
        first=LD_PRELOAD=$1
        shift
        set -- "$first" "$@"
    fi
    while [ "$1" != -- ]; do
        case $mpi in
        openmpi) words="$words -x $1" ;;
        *) words="$words -genv ${1%%=*} ${1#*=}" ;;
        esac
        shift
    done
    shift 6
    case $mpi in openmpi) launcher=$MPIRUN_OPENMPI ;; *) launcher=$MPIRUN_MPICH ;; esac
    # shellcheck disable=SC2086 # words
    timeout -k 5 60 "$launcher" $words -n "$ranks" "$PC_BENCH/$program.$mpi" "$@" 2>/dev/null \
        </dev/null | awk 'NF == 2 && $1 + 0 > 0 { print $1; exit }'
}

late() {
    [ -n "$minutes" ] && [ $(($(date +%s) - begin)) -ge $((minutes * 60)) ]
}

# rows: group, situation, ranks, program, plugins, arguments, one line each, separated by '|'
rows() {
    sed -e '/^#/d' -e 's/ *| */|/g' "$PC_SRC/bench/rows.txt" |
        awk -F'|' -v OFS='|' -v quick=$quick -v only="$only" '
            { marked = sub(/^\* /, "", $2) }
            (quick == "no" || marked) && (only == "" || index($1 " " $2, only)) { print }'
}

# one_row ROUND MPI LINE: every variant, one after the other
one_row() {
    round=$1 mpi_now=$2
    IFS='|' read -r group label ranks program plugins arguments <<ROW
$3
ROW
    [ -x "$PC_BENCH/$program.$mpi_now" ] || return 0
    said=
    for v in $variants; do
        key=$(printf '%s\t%s\t%s\t%s\t%s\t.' "$mpi_now" "$group" "$label" "$v" "$round")
        if grep -qF "${key%.}" "$taken"; then continue; fi
        # shellcheck disable=SC2086 # words
        ns=$(measure "$mpi_now" "$v" "$plugins" "$ranks" "$program" $arguments)
        printf '%s%s\t%s\n' "${key%.}" "${ns:-failed}" "$ranks" >>"$taken"
        said="$said $v ${ns:-failed}"
    done
    n_done=$((n_done + 1))
    printf '%s round %s, %s s, %s: %s:%s\n' "$n_done/$n_all" "$((round + 1))" \
        "$(($(date +%s) - begin))" "$mpi_now" "$label" "${said:- taken before}" >&2
}

names=
for m in $mpis; do build "$m" && names="$names $m"; done
variants="none bare pcollect"
for p in $peers; do variants="$variants ${p%%=*}"; done
rows >"$PC_BENCH/rows"
n_done=0 n_all=$((rounds * $(wc -l <"$PC_BENCH/rows") * $(echo "$names" | wc -w)))
round=0
while [ $round -lt "$rounds" ] && ! late; do
    for m in $names; do
        while read -r line && ! late; do one_row "$round" "$m" "$line"; done <"$PC_BENCH/rows"
    done
    round=$((round + 1))
done

model=$(awk -F': *' '/model name/ {print $2; exit}' /proc/cpuinfo)
awk -v json="$PC_BENCH/call.jsonl" -v machine="${model:-$(uname -m)}" -v cores="$(nproc)" \
    -v kernel="$(uname -r)" -v compiler="$(cc --version | head -n1)" -f "$PC_SRC/bench/call.awk" "$taken"
