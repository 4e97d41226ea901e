# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of pcollect record, after tests/lib.sh: recorded programs, and figures of their profiles.
# shellcheck shell=sh disable=SC2034,SC2154 # variables of the script
need_pcollect
for name in $(env | sed -n 's/^\(PCOLLECT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
unset LD_PRELOAD
"$pcollect" record -o "$work/try.pcol" -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' \
    >"$work/out" 2>"$work/err"
[ -e "$work/try.pcol" ] || skip_all "$(tr '\n' ' ' <"$work/err")"
cc -g -O2 -o "$work/recorded" "$PC_SRC/tests/watch/recorded.c" -pthread -ldl || { fail 'recorded.c compiles'; finish; }
recorded=$work/recorded

# In the background $recorder, which has attached itself when `attach` returns.
attach() { # NAME RECORD-ARG...
    profile=$work/$1.pcol
    shift
    rm -f "$profile"
    "$pcollect" record -o "$profile" "$@" >"$work/out" 2>"$work/err" &
    recorder=$!
    until_watching $recorder
}
# PID: until the process has had 0.5 s of CPU time more, 50 ticks.
cat >"$work/had_more" <<'END'
#!/bin/sh
had() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
most=$(($(had "$1") + 50))
while kill -0 "$1" 2>/dev/null && [ "$(had "$1")" -lt $most ]; do sleep 0.05; done
END
chmod +x "$work/had_more"
under= # what runs the command: another program, or nothing
record() { # NAME RECORD-ARG...
    profile=$work/$1.pcol
    shift
    rm -f "$profile"
    $under "$pcollect" record -o "$profile" "$@" >"$work/out" 2>"$work/err"
}
# figure FUNCTION COLUMN: of the table of functions. A shell that starts the program may have a main, too: the greatest.
figure() {
    "$pcollect" report --table functions "$profile" 2>/dev/null | awk -F '\t' -v f="$1" -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["function"] == f && (!found++ || $at[column] > most) { most = $at[column] }
        END { print found ? most : 0 }'
}
# figure_by FUNCTION COLUMN: of the sums by function.
figure_by() {
    "$pcollect" report --by function --format tsv --columns "function,$2" "$profile" 2>/dev/null |
        awk -F '\t' -v f="$1" '$1 == f { print $2; found = 1 } END { if (!found) print 0 }'
}
# within GOT LEAST MOST NAME
within() {
    awk -v got="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(got != "" && got >= least && got <= most) }'
    ok $? "$4" || note "     got: $1
  wanted: $2 to $3
$(cat "$work/err")"
}

# The number; 0 if records were lost, on a busy machine, which is said.
unless_lost() {
    if grep -q ' records were lost: the rings were full' "$work/err"; then echo 0; else echo "$1"; fi
}

# Compiles late.so, which has a function `late`.
late_library() {
    printf '%s\n' 'volatile double s; int late(double n); int late(double n) {' \
        'for (int i = 0; i < (int)n * 300000; i++) s += i; return 0; }' >"$work/late.c"
    cc -g -O2 -shared -fPIC -o "$work/late.so" "$work/late.c" || { fail 'late.c compiles'; return 1; }
}

# Compiles `filtered`, under which the kernel takes no samples. False: there are no filters of system calls.
filtered() { cc -O1 -o "$work/filtered" "$PC_SRC/tests/counting/filtered.c" && "$work/filtered" true; }
