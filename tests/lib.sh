# SPDX-License-Identifier: BSD-3-Clause
# Functions that the test scripts (.test) share: TAP, a scratch folder, compiling and running MPI programs.
# POSIX sh. A script begins with
#
#     . "$PC_SRC/tests/lib.sh"
#
# and ends with `finish`. From the first line on, standard output is standard error: only the TAP
# functions write to the real one. The environment is set by tests/local.mk; from a build folder a
# script can be run alone with  make check TESTS=tests/mpi/NAME.test
#
#   $work      scratch folder of this script, emptied at its start, kept after it
#   $spool     private folder in memory for arenas, removed at the end
#   $profile   path of the profile that mpi_run asks for; set it before a run
#   $long      yes in make check-long, else empty
#   $seed_before    seeds begin behind this one: 0, or what PCOLLECT_TEST_SEED asks for

: "${PC_SRC:?run by make check}" "${PC_BUILD:?}" "${PC_STAGE:?}"
PC_CC=${PC_CC:-cc}
lib=$PC_STAGE/lib/libpcollect.so
pcollect=$PC_STAGE/bin/pcollect
long=${PCOLLECT_TEST_LONG:+yes}
# Removes variables of the caller: the command refuses unknown ones.
for variable in $(env | sed -n 's/^\(PCOLLECT_TEST_[A-Z_]*\)=.*/\1/p'); do
    eval "value=\$$variable; unset $variable; $variable=\$value"
done
limit=300 # seconds that a job may take: one that hangs takes all of them, others up to a minute on a busy machine
seed_before=${PCOLLECT_TEST_SEED:-0} # the seed before the first
[ -z "$long" ] || limit=600

exec 3>&1 1>&2

# ---- TAP ----------------------------------------------------------------------------------------

tap_n=0
tap_failed=0

note() {
    printf '%s\n' "$*" | sed 's/^/# /' >&3
}

# ok STATUS NAME: passed if STATUS is 0. If possible use one of the following: they also print what was expected and
# what was seen.
ok() {
    tap_n=$((tap_n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_n - $2" >&3
    else
        put_failure "$2" "     got: status $1
  wanted: status 0"
    fi
    return "$1"
}

pass() {
    ok 0 "$1"
}

fail() {
    tap_n=$((tap_n + 1))
    put_failure "$1" "${2-}"
    return 1
}

# Marks the check as failed in the output of what it ran, too: the log has the two apart.
put_failure() { # NAME MESSAGE
    tap_failed=$((tap_failed + 1))
    echo "-- not ok $tap_n" >&2
    echo "not ok $tap_n - $1" >&3
    [ -z "$2" ] || note "$2"
}

# is GOT WANTED NAME: passed if the texts are equal.
is() {
    if [ "$1" = "$2" ]; then
        ok 0 "$3"
    else
        fail "$3" "     got: $1
  wanted: $2"
    fi
}

# holds GOT OPERATOR NUMBER NAME: passed if the comparison of `[` holds.
holds() {
    if test "$1" "$2" "$3"; then
        ok 0 "$4"
    else
        fail "$4" "     got: $1
  wanted: $2 $3"
    fi
}

# says FILE PATTERN NAME: passed if a line of the file matches.
says() {
    if grep -q -- "$2" "$1"; then
        ok 0 "$3"
    else
        fail "$3" "  wanted: $2
     got: $(sed 20q "$1")"
    fi
}

# same FILE_WANTED FILE_GOT NAME: passed if the files are equal; else the first differences.
same() {
    if diff -u "$1" "$2" >"$work/diff" 2>&1; then
        ok 0 "$3"
    else
        fail "$3" "$(sed '40q' "$work/diff")"
    fi
}

# empty FILE NAME: passed if the file has no bytes.
empty() {
    if [ ! -s "$1" ]; then
        ok 0 "$2"
    else
        fail "$2" "$(sed '10q' "$1")"
    fi
}

skip() { # NAME REASON
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2" >&3
}

skip_all() { # REASON
    echo "1..0 # SKIP $1" >&3
    exit 0
}

finish() {
    echo "1..$tap_n" >&3
    [ "$tap_failed" -eq 0 ]
    exit
}

# ---- Folders ------------------------------------------------------------------------------------

test_name=$(basename "$0" .test)
work=$PC_BUILD/tests/work/$(basename "$(dirname "$0")")-$test_name
rm -rf "$work"
mkdir -p "$work" || exit 1
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    spool=$(mktemp -d "/dev/shm/pcollect-test-XXXXXX") || exit 1
else
    spool=$(mktemp -d "$work/spool-XXXXXX") || exit 1
fi
profile=$work/out.pcol
trap 'rm -rf "$spool"' EXIT
trap 'exit 1' HUP INT TERM

# ---- MPI ----------------------------------------------------------------------------------------
# An MPI is named openmpi or mpich throughout.

mpicc_of() {
    case $1 in openmpi) echo "${MPICC_OPENMPI-}" ;; mpich) echo "${MPICC_MPICH-}" ;; esac
}

mpifc_of() {
    case $1 in openmpi) echo "${MPIFC_OPENMPI-}" ;; mpich) echo "${MPIFC_MPICH-}" ;; esac
}

mpirun_of() {
    case $1 in openmpi) echo "${MPIRUN_OPENMPI-}" ;; mpich) echo "${MPIRUN_MPICH-}" ;; esac
}

have_mpi() {
    [ -n "$(mpicc_of "$1")" ] && [ -n "$(mpirun_of "$1")" ]
}

# each_mpi FUNCTION [ARG...]: calls it with every installed MPI as the first argument; for the
# others one skip.
each_mpi() {
    each_function=$1
    shift
    for each in openmpi mpich; do
        if have_mpi $each; then
            "$each_function" $each "$@"
        else
            skip "$each_function: $each" "$each is not installed (compiler and mpirun)"
        fi
    done
}

# its_turn MPI: true if a check that does not depend on the MPI is made with this one. The short form makes it once.
its_turn() {
    [ -n "$long" ] || [ "$1" = openmpi ] || ! have_mpi openmpi
}

# Warnings are those of the project, save one: gcc 12 takes MPICH's MPI_STATUSES_IGNORE for an
# array that is too short. clang does not know that warning.
test_flags="-g -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
    -Wno-unknown-warning-option -Wno-stringop-overflow"

# mpi_cc MPI OUT SOURCE... [FLAG...]: returns the compiler's status; its output is in the log.
mpi_cc() {
    cc_mpi=$1 cc_out=$2
    shift 2
    # shellcheck disable=SC2086 # flags and compiler are words
    OMPI_CC=$PC_CC MPICH_CC=$PC_CC $(mpicc_of "$cc_mpi") -std=gnu11 $test_flags -I"$PC_SRC" \
        -o "$cc_out" "$@"
}

# mpi_library MPI: the file that defines the C functions, as a program of this MPI loads it.
mpi_library() {
    printf '#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n' >"$work/linked.c"
    mpi_cc "$1" "$work/linked-$1" "$work/linked.c" && ldd "$work/linked-$1" |
        awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }'
}

# mpi_cxx: the same for C++, by the C wrapper's flags.
mpi_cxx() {
    cc_mpi=$1 cc_out=$2
    shift 2
    # shellcheck disable=SC2086
    OMPI_CC=$PC_CXX MPICH_CC=$PC_CXX $(mpicc_of "$cc_mpi") -std=gnu++17 -DOMPI_SKIP_MPICXX \
        -DMPICH_SKIP_MPICXX -g -Wall -Wextra -Werror -Wno-unused-command-line-argument \
        -I"$PC_SRC" -o "$cc_out" "$@" -lstdc++
}

# mpi_fc MPI OUT SOURCE... [FLAG...]: module files go beside OUT.
mpi_fc() {
    cc_mpi=$1 cc_out=$2
    shift 2
    # shellcheck disable=SC2086
    $(mpifc_of "$cc_mpi") -g -J"$(dirname "$cc_out")" -o "$cc_out" "$@"
}

. "$PC_SRC/tests/openmpi.sh"
# A rank in MPI_Finalize waits 2 s for mpirun. If a busy machine lets mpirun answer later, it takes the rank for one
# that has ended without MPI_Finalize, and ends the job.
export OMPI_MCA_orte_allowed_exit_without_sync=1
# A quarter of the CPU time of a small job is the search for devices, which a virtual machine answers slowly, and for
# networks.
export HWLOC_COMPONENTS=-pci,-linuxio OMPI_MCA_pml=ob1

# preloaded NAME: path of a library made from tests/NAME.c at first use, for ranks.
preloaded() {
    preloaded=$PC_BUILD/tests/work/$1.so
    if [ ! -e "$preloaded" ]; then
        mkdir -p "$PC_BUILD/tests/work"
        $PC_CC -O2 -shared -fPIC -o "$preloaded.$$" "$PC_SRC/tests/$1.c" && mv "$preloaded.$$" "$preloaded"
    fi
    echo "$preloaded"
}

# Libraries for ranks of MPICH. It waits without yielding: with more ranks than cores each message costs a time slice.
# These make it yield.
mpich_yield() {
    echo "${sleeper:+$sleeper:}$(preloaded yield)"
}

# ranks_sleep: from now on, ranks that wait sleep and leave the processors to those that work. For tests that prove
# nothing about the CPU time of ranks that wait.
sleeper=
ranks_sleep() {
    sleeper=$(preloaded sleep)
    lib=$lib:$sleeper
    export OMPI_MCA_mpi_yield_when_idle=1
}

# rank_words MPI: words of the launcher, for `pcollect run`, that make ranks yield or sleep while they wait.
rank_words() {
    case $1 in
    openmpi) [ -z "$sleeper" ] || echo "-x LD_PRELOAD=$sleeper" ;;
    mpich) echo "-genv LD_PRELOAD $(mpich_yield)" ;;
    esac
}

# mpi_env MPI [NAME=VALUE...] -- : prints nothing; sets $mpi_words to the launcher's arguments, one
# a line, that give every rank these variables. Values contain no newline.
mpi_env() {
    env_mpi=$1
    mpi_words=
    shift
    while [ "$1" != -- ]; do
        case $env_mpi in
        openmpi) mpi_words="$mpi_words-x
$1
" ;;
        mpich) mpi_words="$mpi_words-genv
${1%%=*}
${1#*=}
" ;;
        esac
        shift
    done
}

# launch MPI N [NAME=VALUE...] -- PROGRAM [ARG...]: one job with exactly these variables added.
launch() {
    launch_mpi=$1 launch_n=$2
    shift 2
    mpi_env "$launch_mpi" "$@"
    while [ "$1" != -- ]; do shift; done
    shift
    launch_ifs=$IFS
    IFS='
'
    set -f
    # shellcheck disable=SC2086 # split at newlines
    timeout -k 5 $limit $(mpirun_of "$launch_mpi") -n "$launch_n" $mpi_words "$@" 3>&-
    launch_status=$?
    set +f
    IFS=$launch_ifs
    [ $launch_status -ne 124 ] || note "no end after $limit s: $*"
    return $launch_status
}

# mpi_plain MPI N [NAME=VALUE...] -- PROGRAM [ARG...]: the job without the profiler.
mpi_plain() {
    plain_mpi=$1 plain_n=$2
    shift 2
    plain_preload=$sleeper
    [ "$plain_mpi" != mpich ] || plain_preload=$(mpich_yield)
    if [ -n "$plain_preload" ]; then
        launch "$plain_mpi" "$plain_n" "LD_PRELOAD=$plain_preload" "$@"
    else
        launch "$plain_mpi" "$plain_n" "$@"
    fi
}

# mpi_run MPI N [NAME=VALUE...] -- PROGRAM [ARG...]: the job with libpcollect.so preloaded only in the ranks; the
# profile is $profile, arenas are in $spool.
mpi_run() {
    rm -f "$profile"
    run_mpi=$1 run_n=$2 run_preload=$lib
    shift 2
    [ "$run_mpi" != mpich ] || run_preload=$lib:$(mpich_yield)
    launch "$run_mpi" "$run_n" "LD_PRELOAD=$run_preload" "PCOLLECT_OUTPUT_PATH=$profile" \
        "PCOLLECT_SPOOL_PATH=$spool" "$@"
}

# wait_launcher PID: waits for a job in the background whose ranks were killed; its status is that of the job. mpirun of
# Open MPI 4.1.4 with PMIx 4.2.2 sometimes stays for ever then, also without us: in PMIx_server_finalize it waits for a
# thread that waits for a mutex. After a minute it is killed: it is the last of the processes that start each other.
wait_launcher() {
    launcher_left=600
    while kill -0 "$1" 2>/dev/null; do
        if [ $launcher_left -le 0 ]; then
            launcher=$1
            while launcher_child=$(pgrep -o -P "$launcher") && grep -q . "/proc/$launcher_child/cmdline"; do # no zombie
                launcher=$launcher_child
            done
            note "the launcher has not ended after its ranks: $(tr '\0' ' ' <"/proc/$launcher/cmdline")"
            kill -KILL "$launcher"
        fi
        launcher_left=$((launcher_left - 1))
        sleep 0.1
    done
    wait "$1"
}

# Goes on if the library and the command are there; else the script ends with a skip.
need_pcollect() {
    [ -e "$lib" ] || skip_all "libpcollect.so was not built"
    [ -x "$pcollect" ] || skip_all "pcollect was not built"
}

# True if a program can be hidden: "$work/hide" PROGRAM [ARG...] becomes a copy of it, $work/hidden/program, in a mount
# namespace of its own, as in a container. No other process has that file. Else $no_hiding has the reason.
can_hide() {
    no_hiding=
    mkdir -p "$work/hidden"
    cat >"$work/hide" <<'END'
#!/bin/sh
hidden=${0%/*}/hidden
exec unshare -m sh -c 'mount -t tmpfs none "$0" && cp "$1" "$0/program" && shift && exec "$0/program" "$@"' "$hidden" "$@"
END
    chmod +x "$work/hide"
    "$work/hide" /bin/true 2>/dev/null || no_hiding='only root with unshare can make a mount namespace'
    [ -z "$no_hiding" ]
}

# True if a program can be contained: "$work/contain" PROGRAM [ARG...] becomes the parent of a copy of it, process 1 of a
# pid namespace, with a /tmp of its own. Else $no_container has the reason.
can_contain() {
    no_container=
    cat >"$work/contain" <<'END'
#!/bin/sh
own=${0%/*}/own_tmp
mkdir -p "$own" && cp "$1" "$own/program" && shift &&
    exec unshare --mount --pid --fork sh -c 'mount --bind "$0" /tmp && exec /tmp/program "$@"' "$own" "$@"
END
    chmod +x "$work/contain"
    "$work/contain" /bin/true 2>/dev/null || no_container='only root with unshare can make mount and pid namespaces'
    [ -z "$no_container" ]
}

# True if a command can be run as another user who can access the tested files; else $no_other has the reason.
can_be_other() {
    no_other=
    if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
        no_other='only root with setpriv can be two users'
    elif ! setpriv --reuid=65534 --clear-groups test -x "$pcollect" -a -r "$lib"; then
        no_other='another user may not come to this folder'
    fi
    [ -z "$no_other" ]
}

# has_gdb: gdb runs programs here.
has_gdb() {
    command -v gdb >/dev/null && gdb -batch -nx -ex run true 2>/dev/null | grep -q 'exited normally'
}

# True if threads can be interrupted by perf_event's task clock, which containers may forbid.
has_task_clock() {
    env "LD_PRELOAD=$lib" "PCOLLECT_OUTPUT_PATH=$work/clock.pcol" "PCOLLECT_SPOOL_PATH=$spool" \
        PCOLLECT_COLLECT_ALWAYS=yes PCOLLECT_SAMPLE_FREQUENCY=100 PCOLLECT_SAMPLE_SOURCE=clock true
    [ "$("$pcollect" report --table sampling "$work/clock.pcol" | awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "source") k = i; next }
        { print $k; exit }')" = clock ]
}

# Ends the script with a skip if there is no task clock.
need_task_clock() {
    has_task_clock || skip_all 'perf_event is refused: there is no task clock'
}

# until_watching PID: waits until stat, record or top, in the background, has attached itself: from then on it handles
# SIGTERM. The shell that becomes the command may handle it too.
until_watching() {
    watching_left=1200
    while [ $watching_left -gt 0 ]; do
        case $(sed -n 's/^Name:[[:space:]]*//p; s/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null | tr '\n' ' ') in
        pcollect*[4567cdef]???' ') return ;;
        esac
        kill -0 "$1" 2>/dev/null || return
        sleep 0.05
        watching_left=$((watching_left - 1))
    done
}

# until_true COMMAND...: runs it again and again until it succeeds, for two minutes and what it takes itself.
until_true() {
    true_left=1200
    until "$@" || [ $true_left -eq 0 ]; do
        sleep 0.1
        true_left=$((true_left - 1))
    done
}

# until_said FILE TEXT: waits until a program in the background has written a line with TEXT.
until_said() { until_true grep -qs -- "$2" "$1"; }

# until_files N NAME: waits until there are N files of that name, a pattern, in $work.
until_files() { until_true has_files "$@"; }
has_files() { [ "$(find "$work" -name "$2" | wc -l)" -ge "$1" ]; }

# ready_pids [RANK]: process ids of the ranks of tests/watch/hang.c that have made $work/ready.RANK.PID.
ready_pids() {
    for ready in "$work"/ready.${1:-*}.*; do echo "${ready##*.}"; done
}

# True if a debuginfod server can be used here.
have_debuginfod() {
    command -v python3 >/dev/null && ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1'
}

# serve_debuginfo FOLDER: serves its buildid/ID/debuginfo and buildid/ID/executable on this machine, to this script's
# commands, until $debuginfo_server is killed, or for ten minutes. Works in $work; the file `asked` has its requests.
serve_debuginfo() {
    (cd "$1" && exec python3 -u "$PC_SRC/tests/report/serve.py" "$work/asked") >port 2>serve.err 3>&- &
    debuginfo_server=$!
    serve_tries=0
    until grep -q . port; do
        serve_tries=$((serve_tries + 1))
        [ $serve_tries -lt 300 ] && kill -0 $debuginfo_server 2>/dev/null || return
        sleep 0.1
    done
    DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) DEBUGINFOD_CACHE_PATH=$work/cache
    no_proxy='*' NO_PROXY='*' DEBUGINFOD_TIMEOUT=60
    export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH no_proxy NO_PROXY DEBUGINFOD_TIMEOUT
}

# Files that a run has left in the spool, one a line.
spool_files() {
    find "$spool" -type f
}
