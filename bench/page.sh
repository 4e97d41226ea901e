#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Renews the figures of doc/performance.md and its picture from one run of at most 8 minutes, on a machine with
# nothing else to do. Environment and options as for call.sh; with --resume an interrupted run continues where it
# stopped.
set -u
: "${PC_STAGE:?} ${PC_SRC:?} ${PC_BENCH:?}"
page=$PC_SRC/doc/performance.md
mkdir -p "$PC_BENCH" || exit 1
sh "$PC_SRC/bench/start.sh" --pairs 10 || exit 1
sh "$PC_SRC/bench/call.sh" --minutes 6 --rounds 9 "$@" || exit 1
awk -f "$PC_SRC/bench/page.awk" "$PC_BENCH/call.jsonl" "$PC_BENCH/start.jsonl" >"$PC_BENCH/figures.md" &&
    awk -f "$PC_SRC/bench/plot.awk" "$PC_BENCH/call.jsonl" >"$PC_BENCH/performance.svg" &&
    awk -v figures="$PC_BENCH/figures.md" '
        /^<!-- end of the figures/ { between = 0 }
        !between { print }
        /^<!-- figures/ { between = 1; while ((getline line < figures) > 0) print line }' \
        "$page" >"$PC_BENCH/performance.md" || exit 1
# Replaces both files or none, and never by an empty page.
grep -q '^| `MPI_Comm_rank`, 20 |' "$PC_BENCH/performance.md" && grep -q '</svg>' "$PC_BENCH/performance.svg" || {
    echo "page.sh: too little was measured; $page stays as it is" >&2
    exit 1
}
cat "$PC_BENCH/performance.md" >"$page"
cat "$PC_BENCH/performance.svg" >"$PC_SRC/doc/performance.svg"
echo "renewed: doc/performance.md, doc/performance.svg"
