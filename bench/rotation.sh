#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both rotations on a program whose phases repeat: bench/rotation.sh STAGE SOURCE >FILE
# STAGE is an installed tree, SOURCE that of pcollect. Two groups and turns of 5 ms; phases of half a turn to
# two turns, by the thread's CPU clock, by which the turns go, too. A row for each length of a phase: the
# length in turns, and page faults per CPU time in the windows over the true number, by round-robin and by
# random rotation. It takes three minutes.
set -eu
stage=${1:?usage: bench/rotation.sh STAGE SOURCE}
source=${2:?}
turn_us=5000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=gnu11 -O2 -o "$work/counted" "$source/tests/sample/counted.c"

ratio() { # ROTATION PHASE_US
    rm -f "$work/out.pcol"
    env PCOLLECT_SPOOL_PATH="$work" PCOLLECT_SAMPLE_FREQUENCY=$((1000000 / turn_us)) \
        PCOLLECT_SAMPLE_MAX_OVERHEAD=100 PCOLLECT_SAMPLE_SOURCE=clock \
        PCOLLECT_SAMPLE_PLUGINS=clock,counters PCOLLECT_SAMPLE_COUNTERS_PER_GROUP=1 \
        PCOLLECT_SAMPLE_EVENTS=perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES PCOLLECT_SAMPLE_ROTATION="$1" \
        "$stage/bin/pcollect" run -o "$work/out.pcol" -- "$work/counted" 5000 "$2" >"$work/own" 2>"$work/err" || {
        cat "$work/err" >&2
        exit 1
    }
    "$stage/bin/pcollect" report --table rotation "$work/out.pcol" 2>/dev/null |
        awk -v event=perf::PAGE-FAULTS -f "$source/tests/sample/rate.awk" |
        awk -v truth="$(awk '{ n += $2; s += $3 } END { print n / s }' "$work/own")" '{ print $1 / truth }'
}

for percent in 50 59 70 80 88 94 97 100 103 106 112 125 140 160 180 200; do
    phase=$((turn_us * percent / 100))
    turns=$(ratio round-robin $phase)
    drawn=$(ratio random $phase)
    echo "$percent $turns $drawn" | awk '{ print $1 / 100, $2, $3 }'
done
