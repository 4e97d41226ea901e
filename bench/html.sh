#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the cost of the page of a large profile in Chromium: bench/html.sh PCOLLECT READ [ROUNDS]
# Simulated profiles of 10,000 contexts on 10,000 ranks, with statistics only and with the values by rank of every
# tenth and of every call: bytes of the page and of the profile, and times of bench/html_cost.py.
set -eu
pcollect=${1:?usage: bench/html.sh PCOLLECT READ [ROUNDS]} read=${2:?}
here=$(dirname "$0") python=
for each in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $each -c 'import selenium' 2>/dev/null || python=$each
done
if [ -z "$python" ] || [ ! -x /usr/bin/chromedriver ]; then
    echo "html.sh: needs chromium, chromium-driver and python3-selenium" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kept in 0 10 1; do
    "$read" make "$work/profile.pcol" 10000 $kept
    "$pcollect" html -o "$work/page.html" "$work/profile.pcol" 2>/dev/null
    echo "10,000 ranks, 10,000 contexts, values by rank of $([ $kept = 0 ] && echo no call || echo "every $kept. call")"
    wc -c "$work/profile.pcol" "$work/page.html" | awk '{ bytes[NR] = $1 } END {
        printf "  profile %.1f MiB, page %.1f MiB: %.2f times the profile and 200 KB\n", bytes[1] / 2^20, bytes[2] / 2^20,
            (bytes[2] - 200000) / bytes[1] }'
    $python -B "$here/html_cost.py" "$work/page.html" "${3:-5}"
done
