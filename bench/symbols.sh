#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the time of naming the functions and lines of 100,000 addresses of a large C++ program:
# bench/symbols.sh PCOLLECT READ. This script generates the program: templates of the standard library for
# 60 types of its own. Fastest of three runs, compared with addr2line of binutils on the same addresses.
set -eu
pcollect=${1:?usage: bench/symbols.sh PCOLLECT READ} read=${2:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk 'BEGIN {
    print "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>"
    for (i = 0; i < 60; i++) {
        printf "struct Cell%d {\n    int key;\n    double v[%d];\n", i, i % 7 + 1
        printf "    bool operator<(const Cell%d &o) const { return key < o.key; }\n};\n", i
        printf "double work%d(int n)\n{\n    std::vector<Cell%d> cells;\n", i, i
        printf "    std::map<Cell%d, std::string> names;\n", i
        printf "    for (int k = 0; k < n; k++) {\n        Cell%d x{k * %d %% 97, {1.0 * k}};\n", i, i + 3
        print "        cells.push_back(x);\n        names[x] += std::to_string(k);\n    }"
        printf "    std::sort(cells.begin(), cells.end(), [](const Cell%d &a, const Cell%d &b) {\n", i, i
        print "        return b.key < a.key;\n    });\n    double sum = 0;"
        print "    for (auto &x : cells)\n        sum += x.v[0] * names[x].size();\n    return sum;\n}"
    }
    print "int main(int n, char **)\n{\n    double sum = 0;"
    for (i = 0; i < 60; i++)
        printf "    sum += work%d(n);\n", i
    print "    return (int)sum;\n}"
}' >"$work/large.cc"
echo 'compiling a program to look at ...' >&2
${CXX:-g++} -O2 -g -fPIE -pie -o "$work/large" "$work/large.cc"
"$read" places "$work/large.pcol" "$work/large" 100000 >"$work/addresses"

best() {
    for _ in 1 2 3; do "$read" measure "$@"; done | sort -n | head -n 1 |
        awk -v name="$name" '{ printf "  %-28s %8.3f s  %8.1f MiB\n", name, $1, $2 / 1024 }'
}
echo "100,000 addresses, a program of $(wc -c <"$work/large") bytes"
name='report --table lines' best "$pcollect" report --table lines "$work/large.pcol"
name='addr2line -f -C -i' best sh -c "addr2line -f -C -i -e '$work/large' <'$work/addresses'"
