# SPDX-License-Identifier: BSD-3-Clause
# From lines of bench/merge for several numbers of ranks: a picture of what grows with them. Both axes are
# logarithmic. usage: awk -f ranks.awk lines >ranks.svg
function log10(v) { return log(v) / log(10) }
function x(ranks) { return 60 + 420 * log10(ranks) / 5 }
function y(v) { return 300 - 260 * (log10(v) + 1) / 4 }
function curve(title, color, unit,    i, points) {
    for (i = 1; i <= n; i++) {
        points = points sprintf(" %.1f,%.1f", x(ranks[i]), y(value[i]))
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(ranks[i]), y(value[i]), color
    }
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", points, color
    printf "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s %.3g %s</text>\n",
        x(ranks[n]) + 8, y(value[n]) + 4, color, title, value[n], unit
}
$4 == "%" { n++; ranks[n] = $1; file[n] = $10; memory[n] = $14 }
END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 350\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"680\" height=\"350\" fill=\"white\"/>"
    for (k = -1; k <= 3; k++) {
        printf "<line x1=\"60\" x2=\"480\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>", y(10 ^ k), y(10 ^ k)
        printf "<text x=\"52\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", y(10 ^ k) + 4, 10 ^ k
    }
    for (k = 0; k <= 5; k++)
        printf "<text x=\"%.1f\" y=\"318\" text-anchor=\"middle\">%d</text>\n", x(10 ^ k), 10 ^ k
    print "<text x=\"270\" y=\"340\" text-anchor=\"middle\">ranks</text>"
    print "<text x=\"16\" y=\"170\" text-anchor=\"middle\" transform=\"rotate(-90 16 170)\">MiB, KiB a rank</text>"
    for (i = 1; i <= n; i++) value[i] = memory[i]
    curve("memory of rank 0:", "#c0504d", "MiB")
    for (i = 1; i <= n; i++) value[i] = file[i]
    curve("file:", "#1b6ca8", "MiB")
    for (i = 1; i <= n; i++) value[i] = file[i] * 1024 / ranks[i]
    curve("file:", "#4f9d69", "KiB a rank")
    print "</svg>"
}
