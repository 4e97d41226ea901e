# SPDX-License-Identifier: BSD-3-Clause
# Prints how often an event happened in a second of CPU time: by the difference of windows of two lengths or, if
# windows have one length, by turns. Reads the table `rotation` in tsv.
# usage: awk -v event=NAME -f rate.awk ROTATION
BEGIN { FS = "\t" }
FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
$at["event"] != event { next }
{ l = $at["window"]; n[l] = $at["weight"]; x[l] = $at["count"]; t[l] = $at["time"] }
{ long = !lengths || l > long ? l : long; brief = !lengths++ || l < brief ? l : brief }
END {
    if (lengths == 1) print x[long] / t[long]
    else if (lengths == 2)
        print (x[long] / n[long] - x[brief] / n[brief]) / (t[long] / n[long] - t[brief] / n[brief])
}
