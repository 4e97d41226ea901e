#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the reduction over the ranks of large jobs: bench/merge.sh MERGE [RANKS CONTEXTS DIFFER
# own|place NEIGHBOURS VALUES_MIB]; without a job several of 64 to 100,000 ranks.
set -eu
merge=${1:?usage: bench/merge.sh MERGE [JOB...]}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat <<'END'
Critical path: processor time, in s and times copying what rank 0 receives; of it until values are
chosen. Memory in MiB: most of a rank above 0, of rank 0 until all are merged, until the file is written.
Then: records, those with exact values by rank, those with times in steps. Then: ranks that write a
share of the values, and processor time in s of the one that takes longest. Last: MiB that rank 0
receives, MiB of the same numbers as words of 8 bytes, and the path in times copying these words.
   ranks contexts  differ by, near     path   copies   choice file MiB written s  a rank   merged   rank 0 sent MiB  records    exact    steps   shares  share s received as words   copies
END
if [ $# -gt 0 ]; then
    "$merge" "$@" "$work/sum.pcol"
    exit
fi
while read -r job; do
    # shellcheck disable=SC2086 # a job is several words
    "$merge" $job "$work/sum.pcol"
done <<'END'
64 1000 0 place 26 64
64 10000 0 place 26 64
1024 1000 0 place 26 64
1024 1000 10 own 26 64
10000 1000 10 own 26 64
10000 1000 20 place 26 64
100000 1000 1 place 26 64
100000 1000 20 place 26 64
END
