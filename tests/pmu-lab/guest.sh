#!/bin/busybox sh
# SPDX-License-Identifier: BSD-3-Clause
# The first process of the emulated machine: runs the tests, says TAP on the console, turns it off.
#
# The machine makes an instruction in 2 ns and has 1 GHz: what a loop takes is known as well as what it
# executes. It has one processor, which two ranks share.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /bin
export PATH=/bin:/pc/bin HOME=/tmp
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
chmod 1777 /tmp
ifconfig lo 127.0.0.1 up
hostname lab
echo '127.0.0.1 lab localhost' >/etc/hosts
printf 'root:x:0:0::/tmp:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >/etc/passwd
paranoid=/proc/sys/kernel/perf_event_paranoid
echo 1 >$paranoid # PAPI asks for it; 2 is what systems come with

n=0
ok() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
    [ "$1" -eq 0 ] || sed 's/^/# /' /tmp/seen
}

now() {
    echo "# up $(cut -d' ' -f1 /proc/uptime) s"
}

# ---- Events -----------------------------------------------------------------------------------------

events() {
    PC_TEST_EMULATED=1 /pc/counting_test >/tmp/unit 2>&1
    status=$?
    grep -i fail /tmp/unit >/tmp/seen
    ok $status 'the unit tests of counting/'
    for event in PAPI_TOT_INS PAPI_TOT_CYC arm_ac57::INST_RETIRED perf::CYCLES r08; do
        pcollect events --format tsv $event >/tmp/seen 2>&1
        awk -F'\t' -v event=$event '$1 == event && $2 == "yes" { n++ } END { exit n != 1 }' /tmp/seen
        ok $? "$event counts here"
    done
    for per_group in 1 2; do
        /pc/loops $per_group >/tmp/seen 2>&1
        ok $? "counters_per_group $per_group: instructions of loops are exact"
    done

    # What a user may count, by the level: all; its own side; nothing.
    for level in 1 2 3; do
        echo $level >$paranoid
        for event in perf::INSTRUCTIONS perf::CONTEXT-SWITCHES; do
            su user -c "/pc/bin/pcollect events $event"
        done >/tmp/seen 2>&1
        case $level in
        1) wanted='yes yes ' ;;
        2) wanted='yes side-is-not-counted no level-2 ' ;;
        3) wanted='no level-3 no level-3 ' ;;
        esac
        got=$(sed -n 's/^\(yes\|no\)  *perf::.*/\1/p; s/.*kernel.s side is not counted/side-is-not-counted/p
            s/.*not here: .*perf_event_paranoid is \([0-9]\).*/level-\1/p' /tmp/seen | tr '\n' ' ')
        [ "$got" = "$wanted" ]
        ok $? "level $level: what a user may count is told, and why not more"
    done
    echo 1 >$paranoid
}

# ---- Jobs -------------------------------------------------------------------------------------------

job() { # ARGUMENTS NAME=VALUE...: two ranks
    rm -f /tmp/out.pcol
    job_arguments=$1
    shift
    # shellcheck disable=SC2086
    timeout 120 env "$@" mpiexec.hydra -launcher fork -n 2 -genv PCOLLECT_OUTPUT_PATH /tmp/out.pcol \
        -genv LD_PRELOAD /pc/lib/libpcollect.so:/pc/${wait:-yield}.so /pc/known $job_arguments >/tmp/own 2>/tmp/seen
}

table() { # NAME
    pcollect report --table "$1" --format tsv /tmp/out.pcol 2>/tmp/seen | sed 1d
}

tab=$(printf '\t')
instructions=PCOLLECT_SAMPLE_EVENTS=perf::INSTRUCTIONS:u

# Counts between calls: what loops of another length make more is known to the unit, function by
# function.
sums_hold() { # NAME
    total=$(table counters | awk -F'\t' '{ n += $4 } END { printf "%.0f", n }')
    edges=$(table edges | awk -F'\t' '{ n += $7 } END { printf "%.0f", n }')
    contexts=$(table counts | awk -F'\t' '{ n += $2 } END { printf "%.0f", n }')
    echo "$total $edges $contexts" >/tmp/seen
    [ "$total" -gt 0 ] && [ "$edges" = "$total" ] && [ "$contexts" = "$total" ]
    ok $? "$1: edges and contexts have the total of the counter, to the unit"
}

of_caller() { # FUNCTION: instructions between the two calls that main's callee makes
    table edges | awk -F'\t' -v f="$1" '$6 == 0 && $4 ~ f && $5 ~ f { n += $7; t += $8 } END { printf "%.0f %d\n", n, t }'
}

jobs() {
    for rounds in 1000 4000; do
        job "calls $rounds" $instructions PCOLLECT_SAMPLE_MAX_OVERHEAD=100
        ok $? "two ranks count, $rounds rounds"
        sums_hold "$rounds rounds"
        echo "$rounds $(of_caller light) $(of_caller heavy)"
    done >/tmp/calls
    grep -E '^(not )?ok |^# ' /tmp/calls
    # 20 times on 2 ranks, 2 instructions a round.
    grep -E '^[0-9]' /tmp/calls >/tmp/seen
    awk 'NR == 1 { l = $2; h = $4 } NR == 2 { exit !($2 - l == 240000 && $4 - h == 720000 && $3 == 40 && $5 == 40) }' /tmp/seen
    ok $? 'each function has the instructions of its loops, to the unit, on both ranks'

    # Samples share what lies between two calls: of one stretch `two` has three times the time of `one`.
    # Both are samples in a function that main calls: the context of the counts is that line of main.
    job 'shared 400000' $instructions PCOLLECT_SAMPLE_FREQUENCY=1000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100
    ok $? 'two ranks count and are sampled'
    sums_hold 'with samples'
    table counts | awk -F'\t' '$6 ~ /^main@known.c:[0-9]+$/' | sort -t "$tab" -k 2,2nr | head -n 2 >/tmp/seen
    awk -F'\t' 'NR == 1 { two = $2 } NR == 2 { one = $2 } END {
        share = one / (one + two + 1)
        print "# share of one:", share
        exit !(share > 0.13 && share < 0.37 && one + two > 100000000) }' /tmp/seen
    ok $? 'between calls they share the instructions as their time'
}

# ---- Samples ----------------------------------------------------------------------------------------

# mixture NAME SOURCE: the CPU time of each function is that of its instructions, 2 ns each: within 5
# standard errors and 3 %.
mixture() {
    table sampling | awk -F'\t' '{ print $NF }' | sort -u >/tmp/seen
    [ "$(cat /tmp/seen)" = "$2" ]
    ok $? "$1: the source is $2"
    table functions >/tmp/functions
    awk -F'\t' 'FILENAME == "/tmp/own" { split($0, w, " "); truth[w[1]] = w[2] * 2e-9; next }
        $1 in truth { seen++; d = $6 - truth[$1]; d = (d < 0 ? -d : d) - 0.03 * truth[$1]
            print "# " $1, "true s", truth[$1], "estimate", $6, "samples", $7
            if (d > 0 && d * d * ($7 + 1) > 25 * $6 * $6) bad = 1 }
        END { exit bad || seen != 3 }' /tmp/own /tmp/functions >/tmp/seen
    ok $? "$1: each function has the time of its instructions"
    grep '^#' /tmp/seen
}

samples() {
    job 'mix 1000' PCOLLECT_SAMPLE_FREQUENCY=1000
    ok $? 'two ranks are sampled'
    mixture 'source not named' cycles
    pcollect report --table sampling /tmp/out.pcol 2>/dev/null | awk -F'\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { interrupts += $at["interrupts"]; cpu += $at["cpu"]; missed += $at["missed"] } END {
        print "# interrupts", interrupts, "cpu", cpu, "missed", missed; exit !(interrupts > 800 * cpu && missed < 0.01 * interrupts) }' >/tmp/seen
    ok $? 'cycles interrupt as often as asked'
    for source in clock timer; do
        job 'mix 1000' PCOLLECT_SAMPLE_FREQUENCY=1000 PCOLLECT_SAMPLE_SOURCE=$source
        mixture "source $source" $source
    done
}

# ---- Rotation ---------------------------------------------------------------------------------------

# Estimates of `mix` by 2 events, with the kernel's side or without, are near to what the loops are known
# to do: 2 cycles an instruction. Each by its interval doubled and 6 %, of which the kernel's ticks are a
# part (a function that few windows met has none); half of them by the interval itself; all together by an eighth.
near() { # NAME
    table estimates >/tmp/estimates
    awk -F'\t' 'FILENAME == "/tmp/own" { split($0, w, " "); loops[w[1]] = w[2]; next }
        $3 == "" { next }
        { for (f in loops) if (index($NF, " > " f "@")) {
            cycles = $1 ~ /CYCLES/
            truth = loops[f] * (1 + cycles); off = $2 < truth ? truth - $2 : $2 - truth
            cells++; inside += off <= $3; total[cycles] += $2; known[cycles] += truth
            if (off > 2 * $3 + 0.06 * truth) bad = 1
            printf "# %s of %s: true %.4g, estimate %.4g +- %.2g\n", $1, f, truth, $2, $3
        } }
        END {
            for (c = 0; c < 2; c++) {
                all = total[c] / (known[c] + 1)
                printf "# all of them: %.3f of the truth\n", all
                if (all < 0.88 || all > 1.12) bad = 1
            }
            print "# inside", inside, "of", cells
            exit bad || cells < 4 || inside * 2 < cells
        }' /tmp/own /tmp/estimates >/tmp/seen
    ok $? "$1: instructions and cycles of each function are near to the known number, by their intervals"
    grep '^#' /tmp/seen
}

# What the windows themselves add is left out of the estimates. With the kernel's side it is more than
# what the program does in them: a check that would not see it could see nothing.
added() { # NAME LEAST: events in brief windows, over those of the program
    table rotation | awk -F'\t' -v least="$2" '$3 > 0.00005 { next } { over = $7 / ($7 - $15 / 1000)
            print "# " $2 ": in windows", $7 / $4, "of which they add", $15 / 1000 / $4
            if (over < least) bad = 1 } END { exit bad || !NR }' >/tmp/seen
    ok $? "$1: and would not be with what the windows add"
    grep '^#' /tmp/seen
}

rotation() {
    for side in all :u; do
        for per_group in 1 2; do
            case $side in
            all) name="counters_per_group $per_group, with the kernel's side" of='' least=1.5 ;;
            *) name="counters_per_group $per_group, without the kernel's side" of=:u least=1 ;;
            esac
            job 'mix 1000' PCOLLECT_SAMPLE_FREQUENCY=1000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100 \
                PCOLLECT_SAMPLE_SOURCE=clock PCOLLECT_SAMPLE_PLUGINS=clock,counters \
                PCOLLECT_SAMPLE_COUNTERS_PER_GROUP=$per_group \
                PCOLLECT_SAMPLE_EVENTS=perf::INSTRUCTIONS$of,perf::CYCLES$of
            ok $? "$name: events of two ranks are estimated"
            table rotation | cut -f 1 | sort -u | wc -l >/tmp/seen
            [ "$(cat /tmp/seen)" -eq $((3 - per_group)) ]
            ok $? "$name: in as many groups as they need"
            near "$name"
            added "$name" $least
            table ratios >/tmp/ratios
            awk -F'\t' '$1 == "ipc" && $3 != "" { print "# ipc", $2, "+-", $3; seen++
                if ($2 - 0.5 > 2 * $3 + 0.005 || 0.5 - $2 > 2 * $3 + 0.005) bad = 1 }
                $1 == "frequency" && $3 != "" { print "# GHz", $2, "+-", $3; seen++
                if ($2 - 1 > 2 * $3 + 0.06 || 1 - $2 > 2 * $3 + 0.06) bad = 1 } END { exit bad || seen < 2 }' \
                /tmp/ratios >/tmp/seen
            ok $? "$name: an instruction takes two cycles, a cycle one ns"
            grep '^#' /tmp/seen
        done
    done
}

# ---- Findings ---------------------------------------------------------------------------------------

# A fault that counters tell: rank 1 has twice as much to do. Ranks compute one after the other, and
# sleep while they wait. What is found first, that they share the one processor, is not asked for.
findings() {
    wait=sleep
    for what in 'uneven 8000000' 'even 2000000'; do
        job "$what" $instructions PCOLLECT_SAMPLE_FREQUENCY=1000 PCOLLECT_SAMPLE_MAX_OVERHEAD=100
        pcollect report --table findings --format tsv --threshold shared-processors=100 /tmp/out.pcol \
            2>&1 | sed 1d >/tmp/found
        cp /tmp/found /tmp/seen
        sed 's/^/# /' /tmp/found
        case $what in
        uneven*)
            head -n 1 /tmp/found | grep -q '^imbalance.*Rank 1 computes .* in loop (.* more instructions than the mean: it has more to do'
            ok $? 'the first finding is that rank 1 computes longer, where, and that it executes more'
            ;;
        *)
            ! grep -q '^imbalance' /tmp/found
            ok $? 'the twin without the fault has no such finding'
            ;;
        esac
    done
}

now
[ $# -gt 0 ] || set -- events jobs samples rotation findings
for part in "$@"; do
    $part
    now
done
echo "1..$n"
poweroff -f
