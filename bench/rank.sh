#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures what the merge takes of each rank: bench/rank.sh ARENAS RANK [RANKS CONTEXTS]
# Instructions, which callgrind counts, processor time in ms, and pages that are touched first.
set -eu
arenas=${1:?usage: bench/rank.sh ARENAS RANK [RANKS CONTEXTS]} cost=${2:?}
ranks=${3:-8} contexts=${4:-10000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/spool"
"$arenas" "$work/spool" "$ranks" "$contexts" 26 0
i=0
set --
while [ "$i" -lt "$ranks" ]; do
    set -- "$@" "$work/spool/$i.arena"
    i=$((i + 1))
done
"$cost" "$work/sum.pcol" "$@" | sort -n >"$work/native"
if command -v valgrind >/dev/null; then
    valgrind --tool=callgrind --callgrind-out-file="$work/calls.%p" "$cost" "$work/counted.pcol" "$@" \
        >"$work/counted" 2>/dev/null
    sort -n "$work/counted" | while read -r rank pid _; do
        echo "$rank $(sed -n 's/^totals: //p' "$work/calls.$pid")"
    done >"$work/instructions"
else
    sed 's/ .*/ 0/' "$work/native" >"$work/instructions"
fi
echo "$ranks ranks, $contexts contexts of each: ms and pages for reading the arena, and for the rest"
paste -d ' ' "$work/native" "$work/instructions" | awk -v contexts="$contexts" '
    { printf "rank %2d: %6.1f ms %5d pages, %6.1f ms %5d pages", $1, $3, $4, $5, $6
      if ($8) printf ", %5d instructions a context", $8 / contexts
      print ""
      ms += $3 + $5; pages += $4 + $6; all += $8 }
    END { printf "all:     %6.1f ms %5d pages, %.0f million instructions\n", ms, pages, all / 1e6 }'
