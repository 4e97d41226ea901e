# SPDX-License-Identifier: BSD-3-Clause
# Functions that the steps of .ci/run share. Sourced by bash; the current folder is the top of the tree.
#
# A step counts its own checks and ends with `closing`, whose last line .ci/run adds up.

set -u
top=$(pwd -P)
work=$top/build-ci # every file that CI makes, save what it downloads
cache=${PCOLLECT_CI_CACHE:-/tmp/pcollect-ci-$(id -u)}
n_jobs=$(nproc)
n_passed=0 n_failed=0 n_skipped=0
mkdir -p "$work"
# The shell of configure, libtool and make, which start it for each file: bash takes twice as long to start.
[ ! -x /bin/dash ] || export CONFIG_SHELL=/bin/dash

# check NAME COMMAND...: one check; its output is shown if it fails, and kept.
check() {
    local name=$1 log begin=$SECONDS
    log=$work/$(tr -c 'A-Za-z0-9\n' - <<<"$name").log
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        n_passed=$((n_passed + 1))
        echo "  passed: $name ($((SECONDS - begin)) s)"
    else
        n_failed=$((n_failed + 1))
        tail -n 60 "$log" | sed 's/^/    | /'
        echo "  FAILED: $name ($((SECONDS - begin)) s), whole output: ${log#"$top/"}"
        return 1
    fi
}

skip() { # NAME REASON
    n_skipped=$((n_skipped + 1))
    echo "  skipped: $1: $2"
}

# building COMMAND...: uses ccache, so that a step does not compile again what another has compiled with the same flags.
# Their output is that without ccache. Tests call the plain compilers.
building() {
    need ccache ccache
    PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=yes CCACHE_MAXSIZE=2G "$@"
}

# build_in FOLDER CONFIGURE-ARGUMENT... [-- MAKE-ARGUMENT...]: builds everything and allows no warning; the test
# programs by make with these arguments.
build_in() {
    mkdir -p "$1" && cd "$1" || return
    shift
    local arguments=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    [ $# = 0 ] || shift
    "$top/configure" -q --enable-werror "${arguments[@]}" && building make -s -j"$n_jobs" all &&
        building make -s -j"$n_jobs" check TESTS= "$@"
}

# run_tests FOLDER NAME TESTS [MAKE-ARGUMENT...]: runs these tests, which must have been built, and adds
# their totals.
run_tests() {
    local folder=$1 name=$2 tests=$3 log ok bad skipped begin=$SECONDS
    log=$work/tests-$(tr -c 'A-Za-z0-9\n' - <<<"$name").log
    shift 3
    make -C "$folder" -j"$n_jobs" -k check-TESTS TESTS="$tests" check_PROGRAMS= check_LTLIBRARIES= check_DATA= \
        "$@" >"$log" 2>&1 </dev/null
    read -r ok bad skipped < <(awk '/^# (PASS|FAIL|SKIP|XPASS|ERROR):/ { n[$2] = $3 }
        END { print n["PASS:"] + 0, n["FAIL:"] + n["XPASS:"] + n["ERROR:"], n["SKIP:"] + 0 }' "$log")
    [ $((ok + bad)) -gt 0 ] || bad=1
    n_passed=$((n_passed + ok)) n_failed=$((n_failed + bad)) n_skipped=$((n_skipped + skipped))
    grep -E '^(FAIL|XPASS|ERROR|SKIP): ' "$log" | sed 's/^/    | /'
    sh "$top/tests/failures.sh" "$folder" <"$log"
    echo "  tests $name: $ok passed, $bad failed, $skipped skipped ($((SECONDS - begin)) s)"
}

# unit_tests FOLDER NAME [MAKE-ARGUMENT...]: the unit tests, which are programs without suffix.
unit_tests() {
    local folder=$1 name=$2
    shift 2
    run_tests "$folder" "$name (unit tests)" "$(unit_test_names "$folder")" "$@"
}

unit_test_names() {
    make_variable "$1" TESTS | tr ' ' '\n' | grep -v '\.test$' | tr '\n' ' '
}

make_variable() { # FOLDER NAME
    make -s -C "$1" -f Makefile -f - print-it <<<"print-it: ; @echo \$($2)"
}

closing() {
    echo "$n_passed passed, $n_failed failed$([ $n_skipped = 0 ] || echo ", $n_skipped skipped")"
    [ $n_failed = 0 ]
    exit
}

# Files of the project, one a line, also where there is no git.
tree_files() {
    git -c safe.directory='*' ls-files --cached --others --exclude-standard 2>/dev/null ||
        find . -path ./build\* -prune -o -type f -printf '%P\n'
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need PROGRAM PACKAGE...: installs the packages if the program is missing.
need() {
    command -v "$1" >/dev/null && return
    shift
    echo "  installing $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" \
        >>"$work/install.log" 2>&1 && return
    as_root apt-get update >>"$work/install.log" 2>&1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" \
        >>"$work/install.log" 2>&1
}

. tests/openmpi.sh
