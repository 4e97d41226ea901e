# SPDX-License-Identifier: BSD-3-Clause
# From the JSON lines of bench/call: a picture of the added cost over stack depth, one curve for each
# MPI and tool. usage: awk -f plot.awk call.jsonl >depth.svg
function value(key,    s) {
    s = $0
    if (!sub(".*\"" key "\":\"?", "", s)) return ""
    sub("[\",}].*", "", s)
    return s
}
/"situation":"comm_rank depth / {
    d = value("situation"); sub(/.*depth /, "", d)
    curve = value("mpi") " " value("variant")
    if (!(curve in known)) { known[curve] = 1; name[++n] = curve }
    added[curve, d] = value("added_ns")
    if (added[curve, d] + 0 > top) top = added[curve, d] + 0
    if (!(d in depths)) { depths[d] = 1; depth[++k] = d + 0 }
}
function x(d) { return 60 + 480 * d / 200 }
function y(v) { return 300 - 260 * v / top }
END {
    split("#1b6ca8 #c0504d #4f9d69 #8064a2 #e39f33 #555555", color, " ")
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 350\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"680\" height=\"350\" fill=\"white\"/>"
    step = top > 100 ? 20 : 10
    for (v = 0; v <= top; v += step) {
        printf "<line x1=\"60\" x2=\"540\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>", y(v), y(v)
        printf "<text x=\"52\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", y(v) + 4, v
    }
    for (i = 1; i <= k; i++)
        printf "<text x=\"%.1f\" y=\"318\" text-anchor=\"middle\">%d</text>\n", x(depth[i]), depth[i]
    print "<text x=\"300\" y=\"340\" text-anchor=\"middle\">stack depth of the call, frames</text>"
    print "<text x=\"16\" y=\"170\" text-anchor=\"middle\" transform=\"rotate(-90 16 170)\">added time a call, ns</text>"
    for (c = 1; c <= n; c++) {
        points = ""
        for (i = 1; i <= k; i++)
            if ((name[c], depth[i]) in added) {
                px = x(depth[i]); py = y(added[name[c], depth[i]])
                points = points sprintf(" %.1f,%.1f", px, py)
                printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px, py, color[c]
            }
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points, color[c]
        label = py; for (o = 1; o < c; o++) if (label - last[o] < 14 && last[o] - label < 14) label = last[o] - 14
        last[c] = label
        printf "<text x=\"548\" y=\"%.1f\" fill=\"%s\">%s</text>\n", label + 4, color[c], name[c]
    }
    print "</svg>"
}
