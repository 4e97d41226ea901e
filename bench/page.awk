# SPDX-License-Identifier: BSD-3-Clause
# From the JSON lines of bench/call and bench/start: the figures of doc/performance.md as Markdown.
# usage: awk -f page.awk call.jsonl start.jsonl
function number(key,    s) {
    s = $0
    return sub(".*\"" key "\":", "", s) ? s + 0 : 0
}
function text(key,    s) {
    s = $0
    if (!sub(".*\"" key "\":\"", "", s)) return ""
    sub("\".*", "", s)
    return s
}
# Names of calls as the user writes them.
function shown(s) {
    sub(/ depth /, ", ", s)
    sub(/comm_rank/, "`MPI_Comm_rank`", s); sub(/iprobe/, "`MPI_Iprobe`", s)
    sub(/irecv\+send\+wait/, "`MPI_Irecv`, `MPI_Send`, `MPI_Wait`", s)
    sub(/allreduce/, "`MPI_Allreduce`,", s)
    sub(/^1000 /, "1,000 ", s); sub(/^10000 /, "10,000 ", s); sub(/^100000 /, "100,000 ", s)
    return s
}
/"machine":/ { machine = text("machine"); cores = number("cores"); kernel = text("kernel"); compiler = text("compiler") }
/"situation":/ {
    group = text("group"); s = text("situation"); mpi = text("mpi"); v = text("variant")
    if (!((group, s) in known)) { known[group, s] = 1; list[group] = list[group] s "\n" }
    if (!(mpi in used)) { used[mpi] = 1; mpis[++n_mpis] = mpi }
    cell[group, s, mpi, v] = sprintf("%.1f (%.1f..%.1f)", number("added_ns"), number("least"), number("most"))
    if (v == "pcollect") { r[group, s, mpi] = number("ratio"); call[group, s, mpi] = number("call_ns"); rounds = number("rounds") > rounds ? number("rounds") : rounds }
}
/"start":/ { starts[++n_starts] = sprintf("| %s | %.2f | %.2f..%.2f |", text("start"), number("added_us") / 1000, number("least") / 1000, number("most") / 1000) }
function name(mpi) { return mpi == "openmpi" ? "Open MPI" : "MPICH" }
function table(group, head, with_ratio,    i, k, n, row, line) {
    if (!(group in list)) return
    line = "| " head
    for (i = 1; i <= n_mpis; i++)
        line = line " | " name(mpis[i]) ": call | bare wrapper | pcollect" (with_ratio ? " | ratio" : "")
    print line " |"
    gsub(/[^|]+/, "---", line); print line "|"
    n = split(list[group], row, "\n")
    for (k = 1; k < n; k++) {
        line = "| " shown(row[k])
        for (i = 1; i <= n_mpis; i++) {
            if (!((group, row[k], mpis[i], "pcollect") in cell)) { line = line " | | |" (with_ratio ? " |" : ""); continue }
            line = line sprintf(" | %.1f | %s | %s", call[group, row[k], mpis[i]], cell[group, row[k], mpis[i], "bare"], cell[group, row[k], mpis[i], "pcollect"])
            if (with_ratio) line = line (r[group, row[k], mpis[i]] ? sprintf(" | %.2f", r[group, row[k], mpis[i]]) : " | ")
        }
        print line " |"
    }
    print ""
}
END {
    printf "Machine: %s, %d cores, Linux %s, %s.\n", machine, cores, kernel, compiler
    printf "Added nanoseconds a call, median of up to %d rounds, least and most in brackets; \"call\" is what\n", rounds
    print "the call takes without any tool. The bare wrapper takes two time stamps and adds, nothing else; the"
    print "ratio is to it. Where it hardly adds anything, the ratio is left out.\n"
    print "By stack depth:\n"
    table("depth", "call, depth", 1)
    print "Other calls, at depth 20:\n"
    table("calls", "call", 0)
    print "`MPI_Comm_rank` at depth 20 from several places in turn. A new context is one that was never met:\n"
    table("turns", "in turn", 0)
    print "Threads at once under `MPI_THREAD_MULTIPLE`, CPU time of a call in each:\n"
    table("threads", "threads", 1)
    print "By what is collected, at depth 20:\n"
    table("plugins", "call and plugins", 1)
    if (n_starts) {
        print "Start and end, milliseconds added to a process, median of pairs of runs with quartiles:\n"
        print "| | added ms | quartiles |"
        print "|---|---|---|"
        for (i = 1; i <= n_starts; i++) print starts[i]
        print ""
    }
}
