#!/bin/busybox sh
# SPDX-License-Identifier: BSD-3-Clause
# The first process of the emulated machine: runs the tests, prints TAP on the console, turns the machine off.
#
# The machine executes an instruction in 2 ns and has 1 GHz: the time of a loop is known as well as its instructions. It
# has one processor, which two ranks share.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/pc/bin HOME=/tmp
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
chmod 1777 /tmp
ifconfig lo 127.0.0.1 up
hostname lab
echo '127.0.0.1 lab localhost' >/etc/hosts
printf 'root:x:0:0::/tmp:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >/etc/passwd
paranoid=/proc/sys/kernel/perf_event_paranoid
echo 1 >$paranoid # PAPI needs it; 2 is the usual default

# The part of tests/lib.sh that the checks need; programs were compiled beforehand.
export PC_SRC=/pc/src PC_STAGE=/pc PC_BUILD=/tmp/build PC_CC=prebuilt
export MPICC_MPICH=prebuilt MPIRUN_MPICH=mpiexec.hydra HYDRA_LAUNCHER=fork
export MPICC_OPENMPI=prebuilt MPIRUN_OPENMPI=orterun OMPI_MCA_plm=isolated
. /pc/src/tests/lib.sh
lab_exact=yes
. /pc/src/tests/pmu-lab/checks.sh
lab_programs
lab_job_program mpich

now() {
    note "up $(cut -d' ' -f1 /proc/uptime) s"
}

# ---- Events -----------------------------------------------------------------------------------------

events() {
    PC_TEST_EMULATED=1 /pc/counting_test >"$work/seen" 2>&1
    check $? 'the unit tests of counting/'
    for event in PAPI_TOT_INS PAPI_TOT_CYC arm_ac57::INST_RETIRED perf::CYCLES r08; do
        counts_here $event
        check $? "$event counts here"
    done
    check_loops
    check_stat

    # Events that a user may count, by the level: all; its own side; nothing.
    for level in 1 2 3; do
        echo $level >$paranoid
        for event in perf::INSTRUCTIONS perf::CONTEXT-SWITCHES; do
            su user -c "/pc/bin/pcollect events $event"
        done >"$work/seen" 2>&1
        case $level in
        1) wanted='yes yes ' ;;
        2) wanted='yes side-is-not-counted no level-2 ' ;;
        3) wanted='no level-3 no level-3 ' ;;
        esac
        got=$(sed -n 's/^\(yes\|no\)  *perf::.*/\1/p; s/.*kernel.s side is not counted/side-is-not-counted/p
            s/.*not here: .*perf_event_paranoid is \([0-9]\).*/level-\1/p' "$work/seen" | tr '\n' ' ')
        [ "$got" = "$wanted" ]
        check $? "level $level: what a user may count is told, and why not more"
    done
    echo 1 >$paranoid
}

# ---- What a user may watch --------------------------------------------------------------------------

# way COMMAND...: as a user: yes, "user" without the side of the kernel, "stops" by stopping threads, or no.
way() {
    su user -c "cd /tmp && /pc/bin/pcollect $*" >"$work/way" 2>&1
    way_status=$?
    if [ $way_status -ne 0 ]; then
        echo no
        [ $way_status -eq 1 ] && grep -Eq 'CAP_PERFMON|perf_event_paranoid|another user' "$work/way" || cat "$work/way" >&2
    elif grep -q '(user)\|time in the kernel is not sampled' "$work/way"; then
        echo user
    elif grep -q 'the kernel takes no samples' "$work/way"; then
        echo stops
    else
        echo yes
    fi
}

# The table of doc/permissions.md.
permissions() {
    sleep 1000 &
    of_root=$!
    for level in 0 1 2 3; do
        echo $level >$paranoid
        rm -f /tmp/own.pcol
        echo "$level $(way stat -e instructions -- /pc/built/loops spin 1000)" \
            "$(way record -o /tmp/own.pcol -- /pc/built/loops spin 50000000)" \
            "$(way stat -a -e instructions -- sleep 0.1)" "$(way top -a --once -s 1)" \
            "$(way stat -p $of_root -- true)" "$(way record -p $of_root -- true)"
    done >"$work/seen" 2>&1
    kill $of_root
    echo 1 >$paranoid
    sed -n 's/^| \([0-3]\) |/\1/p' /pc/src/permissions.md | tr -d '|' | tr -s ' ' | sed 's/ $//' >"$work/told"
    cmp -s "$work/told" "$work/seen" && [ "$(wc -l <"$work/told")" -eq 4 ]
    check $? 'what a user may watch is what the documentation says'
}

# ---- Jobs -------------------------------------------------------------------------------------------

jobs() {
    check_edges mpich mpich $instructions
    check_always mpich r01,r02,r03,r04,r05,r08,r09,r0a,r10,r12
    check_shared mpich
}

# ---- Samples ----------------------------------------------------------------------------------------

# mixture NAME SOURCE: the CPU time of each function is that of its instructions, 2 ns each: within 5
# standard errors and 3 %.
mixture() {
    "$pcollect" report --table sampling --columns source --format tsv "$profile" | sed 1d | sort -u >"$work/seen"
    [ "$(cat "$work/seen")" = "$2" ]
    check $? "$1: the source is $2"
    table functions --columns function,cpu_inclusive_s,inclusive_samples >"$work/functions"
    awk -F'\t' 'FILENAME ~ /own$/ { split($0, w, " "); truth[w[1]] = w[2] * 2e-9; next }
        $1 in truth { seen++; d = $2 - truth[$1]; d = (d < 0 ? -d : d) - 0.03 * truth[$1]
            print $1, "true s", truth[$1], "estimate", $2, "samples", $3
            if (d > 0 && d * d * ($3 + 1) > 25 * $2 * $2) bad = 1 }
        END { exit bad || seen != 3 }' "$work/own" "$work/functions" >"$work/seen"
    ok $? "$1: each function has the time of its instructions" || :
    note "$(cat "$work/seen")"
}

samples() {
    job mpich 'mix 1000' PCOLLECT_SAMPLE_FREQUENCY=1000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100
    check $? 'two ranks are sampled'
    mixture 'source not named' cycles
    "$pcollect" report --table sampling "$profile" 2>/dev/null | awk -F'\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { interrupts += $at["interrupts"]; cpu += $at["cpu"]; missed += $at["missed"] } END {
        print "interrupts", interrupts, "cpu", cpu, "missed", missed; exit !(interrupts > 800 * cpu && missed < 0.01 * interrupts) }' >"$work/seen"
    check $? 'cycles interrupt as often as asked'
    for source in clock timer; do
        job mpich 'mix 1000' PCOLLECT_SAMPLE_FREQUENCY=1000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100 PCOLLECT_SAMPLE_SOURCE=$source
        mixture "source $source" $source
    done
}

# ---- Rotation ---------------------------------------------------------------------------------------

# Instructions of the windows themselves are left out of the estimates. With the kernel's side they are more than the
# program's own: a check that missed them would be useless.
added() { # NAME LEAST: events in brief windows, over those of the program
    table rotation | awk -F'\t' -v least="$2" '$3 > 0.00005 { next } { over = $7 / ($7 - $15 / 1000)
            print $2 ": in windows", $7 / $4, "of which they add", $15 / 1000 / $4
            if (over < least) bad = 1 } END { exit bad || !NR }' >"$work/seen"
    ok $? "$1: the events that windows add would falsify the estimates" || :
    note "$(cat "$work/seen")"
}

# Limits as in near: three intervals plus the known biases.
ratios() { # NAME
    table ratios >"$work/ratios"
    awk -F'\t' 'BEGIN { truth["ipc"] = 0.5; truth["frequency"] = 1 }
        $1 in truth && $3 != "" {
            off = $2 < truth[$1] ? truth[$1] - $2 : $2 - truth[$1]
            if (off > 3 * $3 + ($(NF - 1) ~ /brief/ ? 0.12 : 0.04) * truth[$1]) bad = 1
            seen++
            print $1, $2, "+-", $3, $(NF - 1)
        }
        END { exit bad || seen < 2 }' \
        "$work/ratios" >"$work/seen"
    ok $? "$1: an instruction takes two cycles, a cycle one ns" || :
    note "$(cat "$work/seen")"
}

rotation() {
    : >"$work/inside"
    for side in all :u; do
        for per_group in 1 2; do
            case $side in
            all) name="counters_per_group $per_group, with the kernel's side" of='' least=1.5 ;;
            *) name="counters_per_group $per_group, without the kernel's side" of=:u least=1 ;;
            esac
            rotate mpich $per_group "$of" "$name"
            grep '^inside' "$work/seen" >>"$work/inside"
            added "$name" $least
            ratios "$name"
        done
    done
    # Pooled, since cells of one run depend on each other. Where 85 % of 16 hold the truth, fewer than a third do twice
    # in a million.
    awk '{ inside += $2; cells += $4 } END { print inside, "of", cells; exit inside * 3 < cells }' "$work/inside" >"$work/seen"
    ok $? 'the intervals hold the truth'
    note "$(cat "$work/seen")"
}

# ---- As on any other machine ------------------------------------------------------------------------

# The test of machines that have counters, under Open MPI: MPICH has had most of these checks above. Bounds are
# those of this machine; without PC_TEST_EXACT they are the wider ones of any other.
native() {
    PC_TEST_EXACT=yes MPICC_MPICH='' sh /pc/src/tests/counting/hardware.test >/tmp/native 2>/tmp/native.err
    grep -q '^1\.\.[1-9]' /tmp/native
    ok $? 'hardware.test runs to its end' || note "$(tail -n 20 /tmp/native.err)"
    while IFS= read -r line; do
        case $line in
        ok*' # SKIP '*) note "skipped: ${line#ok }" ;;
        ok*) pass "hardware.test: ${line#*- }" ;;
        'not ok'*) ok 1 "hardware.test: ${line#*- }" ;;
        '#'*) note "${line#"# "}" ;;
        esac
    done </tmp/native
}

now
[ $# -gt 0 ] || set -- events permissions jobs samples rotation native
for part in "$@"; do
    $part
    now
done
echo "1..$tap_n" >&3
poweroff -f
