#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures `pcollect recover` over many arenas: bench/recover.sh PCOLLECT READ ARENAS [RANKS CONTEXTS NEIGHBOURS OWN]
# Processor time and peak memory, fastest of three runs, beside reading the bytes of the arenas once.
set -eu
pcollect=${1:?usage: bench/recover.sh PCOLLECT READ ARENAS [JOB...]} read=${2:?} arenas=${3:?}
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# recover RANKS CONTEXTS NEIGHBOURS OWN: one row
recover() {
    for _ in 1 2 3; do
        rm -rf "$work/spool"
        mkdir "$work/spool"
        "$arenas" "$work/spool" "$@"
        once=$(cat "$work/spool"/*.arena | wc -c | awk '{ print $1 / 1048576 }')
        cat=$("$read" measure sh -c "cat $work/spool/*.arena" | awk '{ print $1 }')
        "$read" measure "$pcollect" recover -o "$work/sum.pcol" "$work/spool" |
            awk -v mib="$once" -v cat="$cat" '{ print $1, $2 / 1024, mib, cat }'
        rm "$work/sum.pcol"
    done | sort -n | head -n 1 | awk -v job="$*" '{ split(job, j, " ")
        printf "%8d %8d %10d %8d %11.1f %8.2f %8.2f %8.0f\n", j[1], j[2], j[3], j[4], $3, $4, $1, $2 }'
}

echo '   ranks contexts neighbours      own arenas, MiB read, s       s      MiB'
if [ $# -gt 0 ]; then
    recover "$@"
    exit
fi
recover 512 100 26 0
recover 512 1000 26 0
recover 512 1000 510 0
recover 512 1000 26 500
recover 2048 100 26 0
