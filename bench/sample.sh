#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Cost of a sample by depth of the stack: bench/sample.sh STAGE [SECONDS]
# STAGE is an installed tree. Up to 10,000 interrupts a second: 15 seconds per depth are 10^5 samples. ns: cost
# of handler and kernel, measured by the library with the thread's CPU clock. Ratio: to the floor, an interrupt
# of the same kind with a handler that does nothing. For perf record, if it is installed, the cost is the CPU
# time that its interrupts add to the same work, in paired runs.
set -eu
stage=${1:?usage: bench/sample.sh STAGE [SECONDS]}
seconds=${2:-15}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# With frame pointers, perf can walk by them.
${CC:-cc} -O2 -fno-omit-frame-pointer -o "$work/sample" "$here/sample.c"
${CC:-cc} -O2 -o "$work/floor" "$here/sample_floor.c"
floor=$("$work/floor")
echo "floor: ${floor% *} ns an interrupt, ${floor#* } of them to arm the next one"
floor=${floor% *}

row() { # TOOL DEPTH SAMPLES NS SHARE
    echo "$@" "$floor" | awk '{ printf "%-10s  %5d  %7d  %11.0f  %6s  %9.2f %%\n", $1, $2, $3, $4,
                                $6 ? sprintf("%.2f", $4 / $6) : "-", 100 * $5 }'
}

ours() { # DEPTH
    rm -f "$work/out.pcol"
    env "LD_PRELOAD=$stage/lib/libpcollect.so" PCOLLECT_COLLECT_ALWAYS=yes \
        PCOLLECT_SAMPLE_FREQUENCY=10000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100 \
        "PCOLLECT_OUTPUT_PATH=$work/out.pcol" "$work/sample" "$1" "$seconds" >/dev/null 2>&1
    # shellcheck disable=SC2046 # words
    row pcollect "$1" $("$stage/bin/pcollect" report --table sampling "$work/out.pcol" 2>/dev/null |
        awk -F '\t' '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { n += $at["interrupts"]; cost += $at["cost"]; cpu += $at["cpu"] }
            END { print n + 0, n ? cost / n * 1e9 : 0, cpu ? cost / cpu : 0 }')
}

# CPU seconds of this many rounds of the work, as the program prints them.
cpu_of() { # DEPTH COMMAND...
    cpu_depth=$1
    shift
    "$@" "$work/sample" "$cpu_depth" "$seconds" fixed 2>/dev/null | tail -1
}

theirs() { # METHOD DEPTH
    bare=$(cpu_of "$2" env)
    with=$(cpu_of "$2" perf record -q -e task-clock:u -c 100000 --call-graph "$1" \
        -o "$work/perf.data") || return 0
    n=$(perf report -i "$work/perf.data" --stats 2>/dev/null |
        awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')
    # shellcheck disable=SC2046 # words
    row "perf-$1" "$2" $(echo "$bare $with $n" | awk '{ print $3, $3 ? ($2 - $1) / $3 * 1e9 : 0,
                                                            $2 ? ($2 - $1) / $2 : 0 }')
}

# Ratio of the CPU time of a run with samples to one without: median of 9 pairs and, from the second to the
# eighth of them, its 96 % interval. The work takes a second.
whole() { # FREQUENCY
    for _ in 1 2 3 4 5 6 7 8 9; do
        rm -f "$work/out.pcol"
        without=$("$work/sample" 20 1 fixed)
        with=$(LD_PRELOAD=$stage/lib/libpcollect.so PCOLLECT_COLLECT_ALWAYS=yes PCOLLECT_SAMPLE_FREQUENCY=$1 \
            PCOLLECT_SAMPLE_MAX_OVERHEAD=100 PCOLLECT_OUTPUT_PATH=$work/out.pcol \
            "$work/sample" 20 1 fixed 2>/dev/null | tail -1)
        echo "$with $without"
    done | awk '{ print $1 / $2 }' | sort -n | awk -v hz="$1" '
        { v[NR] = $1 }
        END { printf "  %6d Hz  %.3f times the CPU time  (%.3f..%.3f)\n", hz, v[5], v[2], v[8] }'
}

echo 'tool        depth  samples  ns a sample   ratio  of CPU time'
for depth in 1 5 10 20 50; do
    ours $depth
done
if perf record -q -e task-clock:u -c 100000 -o "$work/try" true >/dev/null 2>&1; then
    theirs fp 20
    theirs dwarf 20
else
    echo 'perf record: not there, or it may not'
fi
echo 'whole runs, 20 frames:'
for frequency in 100 1000 10000; do
    whole $frequency
done
