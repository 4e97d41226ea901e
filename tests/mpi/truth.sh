# SPDX-License-Identifier: BSD-3-Clause
# Functions that the truth tests share, sourced after tests/lib.sh: building programs that keep their own
# account (truth.h), and comparing it with the report of their profile, to the unit.
#
# Contexts are compared as function:line > function:line. Frames of the report whose functions are not in
# the program's account are left out: start-up code, libc between a caller and its callback, functions
# made by the compiler. A separate check tests that main comes first. The account names procedures of the
# Fortran module `parts` without their module. Lines of functions named unlined_... are not compared,
# none with compare_lines=no.

compare_lines=yes
# Sums are printed with OFMT=%.0f: without it some awks round numbers above 2^31.

# build_truth MPI FOLDER: builds libtruth.so there; sets $truth_link for programs.
build_truth() {
    mpi_cc "$1" "$2/libtruth.so" -O2 -fPIC -shared "$PC_SRC/tests/mpi/truth.c"
    ok $? "$1: the account builds"
    truth_link="-L$2 -ltruth -Wl,-rpath,$2"
}

# table NAME FILE: prints one table of a profile as tab-separated values.
table() {
    "$pcollect" report --format tsv --table "$1" "$2"
}

# pick COLUMN...: prints the named columns of a table, tab-separated, without the header.
pick() {
    awk -F '\t' -v names="$*" '
        NR == 1 {
            n = split(names, want, " ")
            for (i = 1; i <= NF; i++) at[$i] = i
            for (i = 1; i <= n; i++) if (!(want[i] in at)) { print "no column " want[i]; exit 1 }
            next
        }
        { for (i = 1; i <= n; i++) printf "%s%s", $at[want[i]], i < n ? "\t" : "\n" }'
}

# Print the account of all ranks: `primitive calls sent received`, and `chain primitive calls ...`.
wanted_primitives() {
    awk -v OFMT=%.0f '$1 == "count" { c[$3] += $4; s[$3] += $5; r[$3] += $6 }
        END { for (i in c) print i, c[i], s[i], r[i] }' "$1"/truth.* | sort
}

wanted_contexts() {
    awk -v OFMT=%.0f '$1 == "context" { k = $3 " " $4; c[k] += $5; s[k] += $6; r[k] += $7 }
        END { for (i in c) print i, c[i], s[i], r[i] }' "$1"/truth.* |
        sed 's/\(unlined_[a-z0-9_]*\):[0-9]*/\1:0/g' |
        if [ $compare_lines = yes ]; then cat; else sed 's/:[0-9][0-9]*/:0/g'; fi |
        awk -v OFMT=%.0f '{ k = $1 " " $2; c[k] += $3; s[k] += $4; r[k] += $5 }
            END { for (i in c) print i, c[i], s[i], r[i] }' | sort
}

got_primitives() {
    table primitives "$1" | pick primitive calls bytes_sent bytes_received |
        awk -F '\t' '$2 > 0 { print $1, $2, $3, $4 }' | sort
}

# got_contexts PROFILE WANTED: prints the contexts of the profile in the form of WANTED. Functions that WANTED does not
# name are left out.
got_contexts() {
    table contexts "$1" | pick path primitive calls bytes_sent bytes_received |
        awk -F '\t' -v OFMT=%.0f -v lines="$compare_lines" '
            NR == FNR {
                split($0, words, " ")
                n = split(words[1], frames, ">")
                for (i = 1; i <= n; i++) { sub(/:.*/, "", frames[i]); known[frames[i]] = 1 }
                next
            }
            $3 > 0 {
                n = split($1, frames, " > ")
                chain = ""
                for (i = 1; i <= n; i++) {
                    name = line = frames[i]
                    sub(/@.*/, "", name); sub(/\(.*/, "", name); sub(/\.cold$/, "", name)
                    sub(/^parts::/, "", name)
                    sub(/.*:/, "", line)
                    if (name ~ /^unlined_/ || lines == "no") line = 0
                    if (name in known) chain = chain (chain == "" ? "" : ">") name ":" line
                }
                k = (chain == "" ? "-" : chain) " " $2
                c[k] += $3; s[k] += $4; r[k] += $5
            }
            END { for (i in c) print i, c[i], s[i], r[i] }' "$2" - | sort
}

# compare_truth ACCOUNT PROFILE NAME N_RANKS: makes all checks of one run.
compare_truth() {
    account=$1 file=$2 name=$3 n_ranks=$4
    if [ ! -s "$file" ]; then
        fail "$name: a profile was written"
        return
    fi
    wanted_primitives "$account" >"$account/primitives.wanted"
    got_primitives "$file" >"$account/primitives.got"
    same "$account/primitives.wanted" "$account/primitives.got" \
        "$name: calls and bytes of every primitive"
    wanted_contexts "$account" >"$account/contexts.wanted"
    got_contexts "$file" "$account/contexts.wanted" >"$account/contexts.got"
    same "$account/contexts.wanted" "$account/contexts.got" \
        "$name: calls and bytes of every context"
    check_sums "$file" "$name"
    check_roots "$file" "$name"
    check_ranks "$file" "$name" "$n_ranks"
    check_lost "$file" "$name"
}

# Checks that nothing was lost. A context that had to be walked in full at every call is no loss.
check_lost() {
    table lost "$1" | pick what count |
        awk -F '\t' '$2 > 0 && $1 !~ /walked in full/' >"$work/lost"
    empty "$work/lost" "$2: nothing is lost"
}

# Checks that the sums over contexts are the totals.
check_sums() {
    table contexts "$1" | pick primitive calls bytes_sent bytes_received |
        awk -F '\t' -v OFMT=%.0f '
            { c[$1] += $2; s[$1] += $3; r[$1] += $4 }
            END { for (i in c) if (c[i]) print i, c[i], s[i], r[i] }' | sort >"$work/sums"
    got_primitives "$1" >"$work/totals"
    same "$work/totals" "$work/sums" "$2: contexts add up to the totals"
}

# Checks that main is the outermost frame of every path that has it, and that each path with a primitive occurs once.
check_roots() {
    table contexts "$1" | pick path primitive >"$work/paths"
    awk -F '\t' '$1 ~ / > main@/ { print $1 }' "$work/paths" >"$work/late-main"
    empty "$work/late-main" "$2: paths start at main"
    sort "$work/paths" | uniq -d >"$work/twice"
    empty "$work/twice" "$2: no path is there twice"
}

# Checks that every rank occurs once, and that each of its threads was in MPI no longer than it ran: mpi_s is their sum.
check_ranks() {
    table ranks "$1" | pick rank mpi_s wall_s >"$work/ranks"
    is "$(cut -f 1 "$work/ranks" | sort -n | tr '\n' ' ')" "$(seq 0 $(($3 - 1)) | tr '\n' ' ')" \
        "$2: every rank is there"
    table thread_times "$1" | pick rank threads >"$work/threads-of"
    awk -F '\t' 'NR == FNR { n[$1] += $2; next } !($2 > 0 && $2 <= $3 * n[$1])' "$work/threads-of" \
        "$work/ranks" >"$work/bad-ranks"
    empty "$work/bad-ranks" "$2: 0 < mpi_s <= wall_s of its threads on every rank"
}
