#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the cost of counting a stretch with libpccount, beside two bare system calls and PAPI's start and stop of
# the same event; PAPI's stop reads it, as `and-read` does: bench/count.sh STAGE [ROUNDS]. In each round each runs
# once. Prints ratios to the bare calls of the round: median, and from the least to the most.
set -eu
stage=${1:?usage: bench/count.sh STAGE [ROUNDS]} rounds=${2:-9}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() {
    ${CC:-cc} -O2 -o "$work/cost" "$here/count_cost.c" -I"$stage/include" -L"$stage/lib" -lpccount \
        -Wl,-rpath,"$stage/lib" "$@" 2>/dev/null
}
who='bare pcollect and-read'
if build -DPAPI -lpapi; then who="$who papi"; else build; fi
for _ in $(seq "$rounds"); do
    for name in $who; do
        ! ns=$("$work/cost" "$name" 200000) || echo "$name $ns"
    done
done | awk '
    $1 == "bare" { base = $2 }
    { n[$1]++; ns[$1, n[$1]] = $2; ratio[$1, n[$1]] = $2 / base }
    !($1 in seen) { seen[$1]; order[++k] = $1 }
    function sort(v, name, count,   i, j, t) {
        for (i = 1; i <= count; i++) for (j = i + 1; j <= count; j++)
            if (v[name, j] < v[name, i]) { t = v[name, i]; v[name, i] = v[name, j]; v[name, j] = t }
    }
    END {
        for (i = 1; i <= k; i++) {
            name = order[i]; m = int((n[name] + 1) / 2)
            sort(ns, name, n[name]); sort(ratio, name, n[name])
            printf "%-8s %8.0f ns, %.2f times two bare system calls (%.2f to %.2f)\n", name, ns[name, m], \
                ratio[name, m], ratio[name, 1], ratio[name, n[name]]
        }
    }'
