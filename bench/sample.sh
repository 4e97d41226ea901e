#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Cost of a sample by depth of the stack: bench/sample.sh STAGE [SECONDS]
# STAGE is an installed tree. Up to 10,000 interrupts a second: 15 seconds a depth are 10^5 samples.
# The cost is what the library measures by the thread's CPU clock, handler and kernel.
set -eu
stage=${1:?usage: bench/sample.sh STAGE [SECONDS]}
seconds=${2:-15}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -o "$work/sample" "$(dirname "$0")/sample.c"
echo 'depth  samples  ns a sample  of CPU time'
for depth in 1 5 10 20 50; do
    env "LD_PRELOAD=$stage/lib/libpcollect.so" PCOLLECT_COLLECT_ALWAYS=yes \
        PCOLLECT_SAMPLE_FREQUENCY=10000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100 \
        "PCOLLECT_OUTPUT_PATH=$work/out.pcol" "$work/sample" "$depth" "$seconds" 2>/dev/null
    "$stage/bin/pcollect" report --table sampling "$work/out.pcol" 2>/dev/null |
        awk -F '\t' -v depth="$depth" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { n += $at["interrupts"]; cost += $at["cost"]; cpu += $at["cpu"] }
            END { if (n) printf "%5d  %7d  %11.0f  %9.2f %%\n", depth, n, cost / n * 1e9,
                                100 * cost / cpu }'
done
