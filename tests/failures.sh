#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# failures.sh FOLDER <OUTPUT: reads what `make check` printed in this build folder, and prints for each failed check
# the last lines of what it ran, its line, and what was expected and seen, from the log of its test. Each line begins
# with "> ", so that they can be found in a log of everything.
sed -n 's/^\(FAIL\|XPASS\|ERROR\): \([^ ]*\).*/\2/p' | sort -u | while read -r test; do
    echo "> $test:"
    awk '
    /^(PASS|SKIP|FAIL|XPASS|ERROR|XFAIL): / { next } # repeats the line before it
    /^-- not ok/ {
        for (i = n > 8 ? n - 7 : 1; i <= n; i++) print line[i]
        print
        n = 0
        next
    }
    /^ok/ { after = 0 }
    /^(not ok|Bail out!)/ { after = 13 }
    after > 0 { after--; print; next }
    { line[++n] = $0 }' "$1/${test%.test}.log" | cut -c 1-160 | head -n 60 | sed 's/^/>   /'
done
