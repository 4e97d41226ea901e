#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What reading large profiles takes: bench/read.sh PCOLLECT READ
# Simulated profiles of 10,000 contexts on 2,000 to 10,000 ranks, with statistics only and with the
# values by rank of every tenth and of every call. Fastest of three runs; the first lines of each file
# are to read its bytes once, and to inflate and decode all of it.
set -eu
pcollect=${1:?usage: bench/read.sh PCOLLECT READ} read=${2:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# row NAME FILE COMMAND...
row() {
    name=$1 file=$2
    shift 2
    for _ in 1 2 3; do "$read" measure "$@"; done | sort -n | head -n 1 |
        awk -v name="$name" -v kib="$(($(cat $file | wc -c) / 1024))" '
            { printf "  %-28s %8.3f s  %8.1f MiB  %5.1f times the file\n", name, $1, $2 / 1024, $2 / kib }'
}

for kept in 0 10 1; do
    file=$work/$kept.pcol
    "$read" make "$file" 10000 $kept
    echo "10,000 ranks, 10,000 contexts, values by rank of $([ $kept = 0 ] && echo no call ||
        echo "every $kept. call"): $(wc -c <"$file") bytes"
    row 'its bytes' "$file" cat "$file"
    row 'all of it, decoded' "$file" "$read" all "$file"
    row 'report --table header' "$file" "$pcollect" report --table header "$file"
    row 'report --table findings' "$file" "$pcollect" report --table findings "$file"
    row 'report' "$file" "$pcollect" report "$file"
    row 'info' "$file" "$pcollect" info "$file"
done
files=
for ranks in 2000 4000 6000 8000 10000; do
    "$read" make "$work/$ranks.pcol" $ranks 10
    files="$files $work/$ranks.pcol"
done
echo 'scale over 2,000 to 10,000 ranks, values by rank of every 10. call'
# shellcheck disable=SC2086 # names without blanks
row 'scale' "$files" "$pcollect" scale --strong $files
