#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the time of reading large profiles: bench/read.sh PCOLLECT READ GROWN MERGE
# Simulated profiles of 10,000 contexts on 2,000 to 10,000 ranks, with statistics only and with the values by
# rank of every tenth and of every call. Processor time, fastest of three runs, compared with the time to read
# the bytes of the file once, and to inflate and decode all of it.
set -eu
pcollect=${1:?usage: bench/read.sh PCOLLECT READ GROWN MERGE} read=${2:?} grown=${3:?} merge=${4:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fastest COMMAND...: seconds and KiB
fastest() { for _ in 1 2 3; do "$read" measure "$@"; done | sort -n | head -n 1; }

# references FILE...: the values with which the following rows are compared
references() {
    files=$*
    kib=$(($(cat "$@" | wc -c) / 1024))
    bytes=$(fastest cat "$@") all=0
    for file; do
        all="$all $(fastest "$read" all "$file")"
    done
    all=$(echo "$all" | awk '{ for (i = 2; i < NF; i += 2) s += $i; print s }')
    awk -v kib="$kib" -v bytes="$bytes" -v all="$all" 'BEGIN {
        split(bytes, b, " ")
        printf "  %.1f MiB; read once %.4f s; read, inflated and decoded %.3f s\n", kib / 1024, b[1], all }'
}

# row NAME COMMAND...: over the files of the references
row() {
    name=$1
    shift
    # shellcheck disable=SC2086 # names without blanks
    fastest "$@" $files | awk -v name="$name" -v kib="$kib" -v bytes="$bytes" -v all="$all" '{
        split(bytes, b, " ")
        printf "  %-24s %8.3f s  %6.1f times read once  %5.2f times decoded  %6.1f MiB, %5.1f times the file\n",
            name, $1, (b[1] > 0 ? $1 / b[1] : 0), $1 / all, $2 / 1024, $2 / kib }'
}

for kept in 0 10 1; do
    echo "10,000 ranks, 10,000 contexts, values by rank of $([ $kept = 0 ] && echo no call ||
        echo "every $kept. call")"
    "$read" make "$work/profile.pcol" 10000 $kept
    references "$work/profile.pcol"
    row 'report --table header' "$pcollect" report --table header
    row 'report --table findings' "$pcollect" report --table findings
    row 'report' "$pcollect" report
    row 'info' "$pcollect" info
    row 'verify' "$pcollect" verify
    rm -f "$work/embedded.pcol"
    row 'embed' "$pcollect" embed -o "$work/embedded.pcol"
done
echo 'the same, with what each rank did after the merge and with something to find'
"$read" make "$work/profile.pcol" 10000 1 fault
references "$work/profile.pcol"
row 'report --table findings' "$pcollect" report --table findings

echo '131,072 ranks on 8,192 nodes, 8 neighbours each'
"$grown" "$work/profile.pcol" halo 131072
references "$work/profile.pcol"
row 'topology' "$pcollect" topology
echo '65,536 ranks, each with a context of its own'
"$grown" "$work/profile.pcol" own 65536
references "$work/profile.pcol"
row 'report --table primitives' "$pcollect" report --table primitives

echo '10,000 ranks with 900 contexts that all have and 100 of their own: 1,000,900 in all'
"$merge" 10000 1000 10 own 26 64 "$work/profile.pcol" >"$work/merged"
references "$work/profile.pcol"
row 'report --table header' "$pcollect" report --table header
row 'report --table resources' "$pcollect" report --table resources
row 'report --table ranks' "$pcollect" report --table ranks
row 'report --table findings' "$pcollect" report --table findings
row 'report' "$pcollect" report
row 'info' "$pcollect" info
row 'html' "$pcollect" html -o "$work/page.html"
row 'html --contexts 0' "$pcollect" html --contexts 0 -o "$work/page.html"

echo '100,000 ranks with 26 neighbours and 1,000 contexts, of which 20 % differ'
"$merge" 100000 1000 20 place 26 64 "$work/profile.pcol" >"$work/merged"
for late in no yes; do
    if [ $late = yes ]; then
        echo 'the same, with what each rank did after the merge'
        "$read" end "$work/profile.pcol"
    fi
    references "$work/profile.pcol"
    for table in header findings primitives resources ranks pairs; do
        row "report --table $table" "$pcollect" report --table $table
    done
    row 'report' "$pcollect" report
    row 'info' "$pcollect" info
    row 'html' "$pcollect" html -o "$work/page.html"
done

for kept in 10 1; do
    for ranks in 2000 4000 6000 8000 10000; do
        "$read" make "$work/$ranks.pcol" $ranks $kept
    done
    echo "five profiles of 2,000 to 10,000 ranks, values by rank of every $kept. call"
    references "$work"/*000.pcol
    row 'scale' "$pcollect" scale --strong
done
