# SPDX-License-Identifier: BSD-3-Clause
# Checks the course of the run against the account that tests/mpi/course.c writes: the files NAME.RANK of the program,
# then TAB-separated tables series_regions and series, each after kind=regions or kind=series. Prints one line for each
# error.
#
# The two times are of different clocks: the rate of the clock of the series is known to some 0.1 %.
function least(a, b) { return a < b ? a : b }
function most(a, b) { return a > b ? a : b }
# Part of [a, b] that lies in [c, d].
function common(a, b, c, d) { return most(0, least(b, d) - most(a, c)) }
function slack(at) { return 200000 + 0.003 * (at - begin) }

# Times since 1970 in ns are too large for doubles: the leading digits are left out.
function ns(text) { return substr(text, length(text) - 14) + 0 }

kind == "did" {
    match(FILENAME, /[0-9]+$/)
    rank = substr(FILENAME, RSTART)
    n = ++n_did[rank]
    what[rank, n] = $1
    path[rank, n] = $1 == "region" ? $2 : ""
    for (i = 1; i <= 4; i++)
        t[rank, n, i] = $1 == "work" && i == 3 ? $(1 + i) + 0 : ns($(1 + i + ($1 == "region")))
    begin = !begin || t[rank, n, 1] < begin ? t[rank, n, 1] : begin
}

kind != "did" && FNR == 1 {
    delete column
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}

# Each bin of a region has at most the time that the program was in the region, and together with overlapping bins of
# another width at least that time.
kind == "regions" {
    rank = $column["rank"]; from = ns($column["start"]); to = from + $column["width"]
    name = $column["region"]
    gsub(/ > /, "/", name); gsub(/ /, "?", name)
    time = 1e9 * $column["time"]
    for (n = 1; n <= n_did[rank]; n++)
        if (path[rank, n] == name)
            break
    if (n > n_did[rank]) {
        print "rank " rank " was never in " name
        next
    }
    high = common(t[rank, n, 1], t[rank, n, 4], from, to)
    if (time > high + slack(to))
        print "rank " rank ", " name ", bin at " from - begin ": " time " ns, not at most " high
    sum[rank, n] += time
    k = ++n_bins[rank, n]
    bin_from[rank, n, k] = from; bin_to[rank, n, k] = to; bin_time[rank, n, k] = time
}

kind == "series" {
    rank = $column["rank"]; from = ns($column["start"]); to = from + $column["width"]
    cpu = 1e9 * $column["cpu_time"]; computed = 1e9 * $column["computed"]
    if (computed > cpu || cpu && !$column["samples"])
        print "rank " rank ": " computed " of " cpu " ns, " $column["samples"] " samples"
    for (n = 1; n <= n_did[rank]; n++) {
        if (what[rank, n] == "work" && to > t[rank, n, 1] - slack(to) && from < t[rank, n, 2] + slack(to))
            worked[rank, n] += computed
        # A sample at the begin of the first bin stands for time before that bin.
        if (what[rank, n] == "sleep" && from > t[rank, n, 1] + slack(to) && to < t[rank, n, 2] - slack(to))
            slept[rank, n] += computed
    }
}

function check_bins(rank, n,    k, j, low, time, from, to) {
    for (k = 1; k <= n_bins[rank, n]; k++) {
        from = bin_from[rank, n, k]; to = bin_to[rank, n, k]
        low = common(t[rank, n, 2], t[rank, n, 3], from, to); time = 0
        for (j = 1; j <= n_bins[rank, n]; j++)
            time += common(from, to, bin_from[rank, n, j], bin_to[rank, n, j]) ? bin_time[rank, n, j] : 0
        if (time < low - slack(to))
            print "rank " rank ", " path[rank, n] ", bins at " from - begin ": " time " ns, not at least " low
    }
}

END {
    for (rank in n_did)
        for (n = 1; n <= n_did[rank]; n++)
            check_bins(rank, n)
    for (rank in n_did)
        for (n = 1; n <= n_did[rank]; n++) {
            if (what[rank, n] == "region" && (sum[rank, n] < t[rank, n, 3] - t[rank, n, 2] - slack(t[rank, n, 4]) || \
                    sum[rank, n] > t[rank, n, 4] - t[rank, n, 1] + slack(t[rank, n, 4])))
                print "rank " rank ", " path[rank, n] ": " sum[rank, n] + 0 " ns in all"
            # Samples stand for all time except their own cost and the last period.
            if (what[rank, n] == "work" && worked[rank, n] < 0.8 * t[rank, n, 3] - 15e6)
                print "rank " rank " computed for " t[rank, n, 3] " ns, of which " worked[rank, n] + 0 " are there"
            if (what[rank, n] == "sleep" && slept[rank, n] > 15e6)
                print "rank " rank " computes for " slept[rank, n] " ns while it sleeps"
        }
}
