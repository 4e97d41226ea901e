#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the cost of `pcollect record` and `perf record`, at 1,000 Hz, of a program that computes below 20 frames, and
# of `pcollect record` where the kernel takes no samples and threads are stopped for them, 50 times a second:
# bench/record.sh STAGE [ROUNDS]. In each round each of them runs once; medians of the rounds, with the least and the
# most, in percent of the CPU time of the program alone: its CPU time, the time for which it was held, which is neither CPU
# time nor a wait for a processor, and the CPU time of the tool. And bytes written per second of CPU time.
set -eu
pcollect=${1:?usage: bench/record.sh STAGE [ROUNDS]}/bin/pcollect rounds=${2:-7}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -g -fno-omit-frame-pointer -o "$work/cost" "$here/record_cost.c"
${CC:-cc} -O2 -o "$work/filtered" "$here/../tests/counting/filtered.c"
set -- alone pcollect
! "$work/filtered" true || set -- "$@" stops
! command -v perf >/dev/null || set -- "$@" perf-fp perf-dwarf

measure() { # NAME
    rm -f "$work/out" "$work/out.pcol"
    case $1 in
    alone) set -- "$1" ;;
    pcollect) set -- "$1" "$pcollect" record -F 1000 -o "$work/out.pcol" -- ;;
    stops) set -- "$1" "$work/filtered" "$pcollect" record -F 50 -o "$work/out.pcol" -- ;;
    perf-fp) set -- "$1" perf record -q -F 1000 -g -o "$work/out" -- ;;
    perf-dwarf) set -- "$1" perf record -q -F 1000 --call-graph dwarf -o "$work/out" -- ;;
    esac
    name=$1
    shift
    all=$("$work/cost" run "$@" "$work/cost" work 30000 "$work/own")
    bytes=$(cat "$work/out" "$work/out.pcol" 2>/dev/null | wc -c)
    echo "$name $(cat "$work/own") $all $bytes"
}

for _ in $(seq "$rounds"); do
    for name in "$@"; do measure "$name"; done
done | awk '
    $1 == "alone" { base = $2 }
    { n[$1]++; cost[$1, n[$1]] = 100 * ($2 - base) / base; held[$1, n[$1]] = 100 * $3 / base
      watch[$1, n[$1]] = 100 * ($4 - $2) / base; bytes[$1, n[$1]] = $5 / ($2 / 1000) }
    !($1 in seen) { seen[$1]; order[++k] = $1 }
    function median(v, name, count,   i, j, t, a) {
        for (i = 1; i <= count; i++) a[i] = v[name, i]
        for (i = 1; i <= count; i++) for (j = i + 1; j <= count; j++) if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t }
        least = a[1]; most = a[count]
        return count % 2 ? a[(count + 1) / 2] : (a[count / 2] + a[count / 2 + 1]) / 2
    }
    END {
        print "                program, more CPU time  program, held            who watches              bytes/s"
        for (i = 1; i <= k; i++) {
            name = order[i]; m = median(cost, name, n[name])
            printf "%-14s %6.2f %% (%5.2f .. %5.2f)", name, m, least, most
            m = median(held, name, n[name])
            printf "  %5.2f %% (%5.2f .. %5.2f)", m, least, most
            m = median(watch, name, n[name])
            printf "  %5.2f %% (%5.2f .. %5.2f)", m, least, most
            printf "  %12.0f\n", median(bytes, name, n[name])
        }
    }'
