# SPDX-License-Identifier: BSD-3-Clause
# Reads the measurements of bench/call.sh: mpi, group, situation, variant, round, ns, ranks. Prints the table, and
# writes JSON lines to `json`: facts of the machine, then one line for each situation and variant.
BEGIN { FS = "\t" }
$6 + 0 > 0 {
    row = $1 FS $2 FS $3
    if (!(row in known)) { known[row] = 1; rows[++n_rows] = row; ranks[row] = $7 }
    if (!((row, $4) in has)) { has[row, $4] = 1; variants[row] = variants[row] " " $4 }
    if (!($4 in tools)) { tools[$4] = 1; if ($4 != "none" && $4 != "bare" && $4 != "pcollect") peers = peers " " $4 }
    ns[row, $4, $5] = $6
    if ($5 > last) last = $5
}

function median(list, count,    i, j, t) {
    for (i = 1; i < count; i++)
        for (j = i; j > 0 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    least = list[0]; most = list[count - 1]
    return count % 2 ? list[int(count / 2)] : (list[count / 2 - 1] + list[count / 2]) / 2
}

# Median over the rounds of the time that `v` adds to the program without a tool; sets least, most, rounds.
function added(row, v,    r, c, list) {
    c = 0
    for (r = 0; r <= last; r++)
        if ((row, v, r) in ns && (row, "none", r) in ns)
            list[c++] = ns[row, v, r] - (v == "none" ? 0 : ns[row, "none", r])
    rounds = c
    return c ? median(list, c) : 0
}

function text(a) { return sprintf("%.1f (%.1f..%.1f)", a, least, most) }

END {
    printf "machine: %s, %s cores, Linux %s, %s\n", machine, cores, kernel, compiler
    printf "added ns a call: with a tool less without, paired in each round; median (least..most)\n\n"
    printf "{\"machine\":\"%s\",\"cores\":%d,\"kernel\":\"%s\",\"compiler\":\"%s\"}\n", machine, cores, kernel, compiler > json
    printf "%-8s %-48s %9s %22s %24s %6s\n", "mpi", "situation", "call ns", "bare wrapper", "pcollect", "ratio"
    for (i = 1; i <= n_rows; i++) {
        row = rows[i]; split(row, part, FS)
        call = added(row, "none"); bare = added(row, "bare")
        line = sprintf("%-8s %-48s %9.1f %22s", part[1], part[3], call, text(bare))
        n = split(variants[row], v, " ")
        for (k = 1; k <= n; k++) {
            if (v[k] == "none") continue
            a = added(row, v[k]); ratio = bare >= 5 ? a / bare : 0
            if (!rounds) continue
            printf "{\"mpi\":\"%s\",\"group\":\"%s\",\"situation\":\"%s\",\"ranks\":%d,\"variant\":\"%s\",\"call_ns\":%.2f,\"added_ns\":%.2f,\"least\":%.2f,\"most\":%.2f,\"ratio\":%.3f,\"rounds\":%d}\n", part[1], part[2], part[3], ranks[row], v[k], call, a, least, most, ratio, rounds > json
            if (v[k] == "pcollect") line = line sprintf(" %24s %6.2f", text(a), ratio)
            else if (v[k] != "bare") line = line sprintf("  %s %.1f (%.2fx)", v[k], a, ratio)
        }
        print line
    }
    printf "\nJSON lines: %s\n", json
}
