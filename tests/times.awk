# SPDX-License-Identifier: BSD-3-Clause
# Lists the last lines that tests/run-test wrote into the logs of tests: CPU time in s, duration in s, test; the sums
# at the end. `make check-times` sorts the rows.
/^# took [0-9.]+ s of CPU time, [0-9]+ s in all$/ {
    test = FILENAME
    sub(/\.log$/, "", test)
    cpu[test] = $3
    duration[test] = $8
}
END {
    for (test in cpu) {
        printf "%9.2f %6d  %s\n", cpu[test], duration[test], test | "LC_ALL=C sort -n"
        cpu_sum += cpu[test]
        duration_sum += duration[test]
    }
    close("LC_ALL=C sort -n")
    printf "%9.2f %6d  %s\n", cpu_sum, duration_sum, "all, s of CPU time and s in all"
}
