#!/bin/busybox sh
# SPDX-License-Identifier: BSD-3-Clause
# The first process of the emulated machine: runs the tests, says TAP on the console, turns it off.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /bin
export PATH=/bin
# PAPI asks for it; 2 is what systems come with.
echo 1 >/proc/sys/kernel/perf_event_paranoid

n=0
ok() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

/pc/counting_test >/tmp/unit 2>&1
ok $? 'the unit tests of counting/'
sed 's/^/# /' /tmp/unit | grep -i fail
for event in PAPI_TOT_INS PAPI_TOT_CYC arm_ac57::INST_RETIRED perf::CYCLES; do
    /pc/bin/pcollect events --format tsv $event >/tmp/events 2>&1
    awk -F'\t' -v event=$event '$1 == event && $2 == "yes" { n++ } END { exit n != 1 }' /tmp/events
    ok $? "$event counts here"
done
for per_group in 1 2; do
    /pc/loops $per_group >/tmp/loops 2>&1
    ok $? "counters_per_group $per_group: instructions of loops are exact"
    sed 's/^/# /' /tmp/loops
done
echo "1..$n"
poweroff -f
