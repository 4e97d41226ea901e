#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the time of starting and ending with libpcollect.so: bench/README.md has the method.
# usage: start.sh [--pairs N] [--ranks N] [--contexts N]. Environment as for call.sh. JSON lines go to
# $PC_BENCH/start.jsonl, the table to standard output.
set -u
pairs=15 ranks=2 contexts=0
while [ $# -gt 1 ]; do
    case $1 in
    --pairs) pairs=$2 ;;
    --ranks) ranks=$2 ;;
    --contexts) contexts=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ $# -eq 0 ] || {
    echo "start.sh: unknown option $1 (known: --pairs N --ranks N --contexts N)" >&2
    exit 2
}
: "${PC_STAGE:?} ${PC_SRC:?} ${PC_BENCH:?}"
mkdir -p "$PC_BENCH" || exit 1
lib=$PC_STAGE/lib/libpcollect.so
json=$PC_BENCH/start.jsonl
: >"$json"
. "$PC_SRC/tests/openmpi.sh"
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export PCOLLECT_OUTPUT_PATH="$PC_BENCH/start.pcol"
unset LD_PRELOAD

# row WHAT MEDIAN LEAST MOST: in microseconds
row() {
    printf '%-44s %9.2f ms  (%.2f..%.2f)\n' "$1" "$(ms "$2")" "$(ms "$3")" "$(ms "$4")"
    printf '{"start":"%s","added_us":%s,"least":%s,"most":%s}\n' "$@" >>"$json"
}
ms() { awk -v us="$1" 'BEGIN { printf "%.4f", us / 1000 }'; }

# ranks_take MPI PRELOAD: four figures for each rank
ranks_take() {
    rm -f "$PCOLLECT_OUTPUT_PATH"
    case $1 in
    openmpi) timeout -k 5 60 "$MPIRUN_OPENMPI" ${2:+-x LD_PRELOAD="$2"} -n "$ranks" "$PC_BENCH/start.$1" "$contexts" ;;
    mpich) timeout -k 5 60 "$MPIRUN_MPICH" ${2:+-genv LD_PRELOAD "$2"} -n "$ranks" "$PC_BENCH/start.$1" "$contexts" ;;
    esac 2>/dev/null </dev/null | awk 'NF == 4'
}

# quartiles SIDE COLUMN...: of the sums of these columns, over the pairs of runs: of the runs `with` or `without`
# the library, or what is `added` by it; each run counts with the mean of its ranks
quartiles() {
    awk -v words="$*" '
        BEGIN { n = split(words, word, " ") }
        { for (i = 2; i <= n; i++) sum[$1, $2] += $(2 + word[i]); count[$1, $2]++; if ($1 > last) last = $1 }
        function mean(r, side) { return sum[r, side] / count[r, side] }
        END {
            for (r = 0; r <= last; r++)
                if (count[r, "without"] && count[r, "with"])
                    v[++k] = word[1] == "added" ? mean(r, "with") - mean(r, "without") : mean(r, word[1])
            for (i = 2; i <= k; i++)
                for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            if (k) printf "%.1f %.1f %.1f\n", v[int((k + 1) / 2)], v[int((k + 3) / 4)], v[int((3 * k + 1) / 4)]
            else print "0 0 0"
        }' "$PC_BENCH/start.tsv"
}

start_of_mpi() {
    cc=$1
    shift
    [ -n "$cc" ] && "$cc" -O2 "$PC_SRC/bench/start_mpi.c" -o "$PC_BENCH/start.$1" || {
        echo "$1: not installed, left out" >&2
        return
    }
    : >"$PC_BENCH/start.tsv"
    pair=0
    while [ $pair -lt "$pairs" ]; do
        ranks_take "$1" "" | sed "s/^/$pair without /" >>"$PC_BENCH/start.tsv"
        ranks_take "$1" "$lib" | sed "s/^/$pair with /" >>"$PC_BENCH/start.tsv"
        pair=$((pair + 1))
    done
    # shellcheck disable=SC2046 # words
    row "$1: start of a rank" $(quartiles added 1 2)
    # shellcheck disable=SC2046
    row "$1: MPI_Finalize, with the merge of $ranks ranks" $(quartiles added 3)
    [ "$contexts" -eq 0 ] || quartiles without 4 | while read -r median rest; do
        printf '  %d contexts; MPI_Allreduce of 80 bytes for each takes %.2f ms\n' "$contexts" "$(ms "$median")"
    done
}

echo "added by libpcollect.so; median (quartiles) of pairs of runs"
"${CC:-cc}" -O2 "$PC_SRC/bench/start.c" -o "$PC_BENCH/start" || exit 1
# shellcheck disable=SC2046
row "a process without MPI (true)" $("$PC_BENCH/start" "$lib" $((pairs * 20)) true)
start_of_mpi "${MPICC_OPENMPI:-}" openmpi
start_of_mpi "${MPICC_MPICH:-}" mpich
