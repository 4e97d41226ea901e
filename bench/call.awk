# SPDX-License-Identifier: BSD-3-Clause
# Reads "round variant ns" and prints one line of the table and the JSON lines of one situation.
{ ns[$1, $2] = $3; if (!($2 in seen)) { seen[$2] = 1; name[n++] = $2 } if ($1 > last) last = $1 }

function median(list, count,    i, j, t) {
    for (i = 1; i < count; i++)
        for (j = i; j > 0 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    least = list[0]; most = list[count - 1]
    return count % 2 ? list[int(count / 2)] : (list[count / 2 - 1] + list[count / 2]) / 2
}

function added(v,    r, c, list) {
    c = 0
    for (r = 0; r <= last; r++)
        if (ns[r, v] != "" && ns[r, "none"] != "") list[c++] = ns[r, v] - ns[r, "none"]
    return c ? median(list, c) : "nan"
}

END {
    c = 0
    for (r = 0; r <= last; r++) if (ns[r, "none"] != "") base[c++] = ns[r, "none"]
    call = c ? median(base, c) : 0
    bare = added("bare"); bare_text = sprintf("%.1f (%.1f..%.1f)", bare, least, most)
    line = sprintf("%-8s %-28s %9.1f %20s", mpi, label, call, bare_text)
    for (i = 0; i < n; i++) {
        v = name[i]
        if (v == "none") continue
        a = added(v)
        ratio = bare > 0 ? a / bare : 0
        printf "{\"mpi\":\"%s\",\"situation\":\"%s\",\"ranks\":%d,\"variant\":\"%s\",\"call_ns\":%.2f,\"added_ns\":%.2f,\"least\":%.2f,\"most\":%.2f,\"ratio\":%.3f,\"rounds\":%d}\n", mpi, label, ranks, v, call, a, least, most, ratio, last + 1 >> json
        if (v == "pcollect") line = line sprintf(" %20s %7.2f", sprintf("%.1f (%.1f..%.1f)", a, least, most), ratio)
        else if (v != "bare") line = line sprintf("  %s %.1f (%.2fx)", v, a, ratio)
    }
    print line
}
