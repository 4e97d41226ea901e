# SPDX-License-Identifier: BSD-3-Clause
# A picture of both rotations on a program whose phases repeat: the estimate of each for the number of events, by the
# length of a phase. Rows of bench/rotation.sh.
# usage: awk -f rotation.awk ROWS >rotation.svg

function x_of(p) { return 60 + 480 * log(p / 0.5) / log(4) }
function y_of(v) { return 300 - 130 * v }
function curve(mode, color,    i, points) {
    for (i = 0; i < steps; i++)
        points = points sprintf(" %.1f,%.1f", x_of(phase[i]), y_of(ratio[mode, i]))
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points, color
}
BEGIN { steps = 0 }
{ phase[steps] = $1; ratio["turns", steps] = $2; ratio["drawn", steps] = $3; steps++ }
END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 350\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"640\" height=\"350\" fill=\"white\"/>"
    for (v = 0; v <= 2; v += 0.5) {
        printf "<line x1=\"60\" x2=\"540\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>", y_of(v), y_of(v), v == 1 ? "#555" : "#ddd"
        printf "<text x=\"52\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", y_of(v) + 4, v
    }
    k = split("0.5 0.7 1 1.4 2", tick, " ")
    for (i = 1; i <= k; i++)
        printf "<text x=\"%.1f\" y=\"318\" text-anchor=\"middle\">%s</text>\n", x_of(tick[i]), tick[i]
    print "<text x=\"300\" y=\"340\" text-anchor=\"middle\">length of a phase, in turns</text>"
    print "<text x=\"16\" y=\"170\" text-anchor=\"middle\" transform=\"rotate(-90 16 170)\">estimate over truth</text>"
    curve("turns", "#c0504d"); curve("drawn", "#1b6ca8")
    print "<text x=\"450\" y=\"60\" fill=\"#1b6ca8\">random</text>"
    print "<text x=\"450\" y=\"76\" fill=\"#c0504d\">round-robin</text>"
    print "</svg>"
}
