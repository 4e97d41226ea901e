#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# From a fresh clone to a first profile, or to a full run of the tests:
#
#   ./quickstart.sh          install what is missing, build in build/, install into build/install/,
#                            profile examples/poisson.c on 2 to 4 ranks and print the report
#   ./quickstart.sh check    the same set-up, then `make check-all`; ends in "N passed, N failed"
#
# Finished work is not repeated. Long output goes to build/quickstart.log.
# MPICC and MPIRUN choose another MPI than the one found.
# Exit status: 0 success, 1 failure, 2 usage error.

set -u
cd "$(dirname "$0")" || exit 1
top=$(pwd -P)
build=$top/build
log=$build/quickstart.log
mode=profile
n_jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# With more ranks than processors the report would only show effects of the machine.
n_ranks=$((n_jobs < 2 ? 2 : n_jobs > 4 ? 4 : n_jobs))

usage() {
    sed -n '4,12s/^# \{0,1\}//p' "$0"
}

case ${1-} in
'') ;;
check) mode=check ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }

# ---- Steps and their messages ----------------------------------------------------------------

step() { # TEXT: begins a step
    printf '==> %s\n' "$*"
    printf '\n==> %s\n' "$*" >>"$log"
}

fail() { # TEXT: ends the script
    printf 'quickstart.sh: %s\n' "$*" >&2
    exit 1
}

logged() { # COMMAND...: its output goes to the log, whose end is shown if the command fails
    printf '+ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null && return
    tail -n 30 "$log" >&2
    fail "failed: $*
  the end of its output is above, all of it is in $log"
}

# ---- What is there ---------------------------------------------------------------------------

have() {
    command -v "$1" >/dev/null 2>&1
}

have_compiler() { # CC, LANGUAGE, HEADER: a compiler without the headers of libc is none
    echo "#include <$3>" | "$1" -x "$2" -fsyntax-only - >/dev/null 2>&1
}

have_module() {
    have pkg-config && pkg-config --exists "$1" 2>/dev/null
}

# Prints the flavour of a launcher: openmpi, mpich or nothing. Runs it, because the name alone proves nothing.
flavour_of() {
    case $("$1" --version 2>/dev/null </dev/null) in
    *'Open MPI'* | *OpenRTE*) echo openmpi ;;
    *HYDRA* | *MPICH*) echo mpich ;;
    esac
}

# find_mpi FLAVOUR: sets found_cc and found_run, or fails.
find_mpi() {
    for dir in '' "/usr/lib64/$1/bin/" "/usr/lib64/mpi/gcc/$1/bin/" "/usr/lib64/mpi/gcc/${1}4/bin/"; do
        for suffix in ".$1" ''; do
            found_cc=${dir}mpicc$suffix
            found_run=${dir}mpirun$suffix
            have "$found_cc" && have "$found_run" &&
                [ "$(flavour_of "$found_run")" = "$1" ] && return
        done
    done
    return 1
}

# ---- What is missing, and how it is installed ------------------------------------------------

# One line a group: when it is wanted, what for, and its packages by package manager.
package_table() {
    cat <<'END'
tools|to build from git|gcc libc6-dev make autoconf automake libtool pkg-config|gcc make autoconf automake libtool pkgconf-pkg-config|gcc make autoconf automake libtool pkg-config|base-devel
zlib|the profile's file format|zlib1g-dev|zlib-devel|zlib-devel|zlib
libdw|functions, files and lines in the report|libdw-dev|elfutils-devel|libdw-devel libelf-devel|libelf
papi|names of counters|libpapi-dev libpfm4-dev|papi-devel libpfm-devel|papi-devel libpfm-devel|
hwloc|sockets of the nodes for pcollect topology|libhwloc-dev|hwloc-devel|hwloc-devel|hwloc
ncurses|pcollect browse|libncurses-dev|ncurses-devel|ncurses-devel|ncurses
jansson|JSON lines for pcollect model|libjansson-dev|jansson-devel|libjansson-devel|jansson
mpi|an MPI to run the example|libopenmpi-dev openmpi-bin|openmpi-devel|openmpi4-devel|openmpi
cxx|tests: a program that throws|g++|gcc-c++|gcc-c++|gcc
cmocka|tests: the unit tests|libcmocka-dev|libcmocka-devel|libcmocka-devel|cmocka
libunwind|tests: the walker's oracle|libunwind-dev|libunwind-devel|libunwind-devel|libunwind
openmpi|tests: the first MPI|libopenmpi-dev openmpi-bin|openmpi-devel|openmpi4-devel|openmpi
mpich|tests: the second MPI|libmpich-dev mpich|mpich-devel|mpich-devel|
fortran|tests: programs in Fortran|gfortran|gcc-gfortran|gcc-fortran|gcc-fortran
hosts|tests: programs that load the library unawares|python3 perl|python3 perl|python3 perl|python perl
processes|tests: jobs that are killed or stopped|procps|procps-ng|procps|procps-ng
screens|tests: pcollect browse in a terminal|tmux|tmux|tmux|tmux
debugger|tests: commands for gdb|gdb|gdb|gdb|gdb
pages|tests: manual pages|groff-base|groff-base|groff|groff
END
}

wanted() { # NAME: is the group wanted in this mode, and missing?
    case $1 in
    tools)
        have_compiler cc c stdlib.h && have make && have autoconf && have automake &&
            have libtoolize && have pkg-config && return 1
        ;;
    zlib) have_module zlib && return 1 ;;
    libdw) have_module libdw && return 1 ;;
    papi) have_module papi && return 1 ;;
    hwloc) have_module hwloc && return 1 ;;
    ncurses) have_module ncursesw && return 1 ;;
    jansson) have_module jansson && return 1 ;;
    mpi)
        [ $mode = profile ] || return 1
        [ -z "${MPICC-}" ] || return 1
        find_mpi openmpi || find_mpi mpich && return 1
        ;;
    *)
        [ $mode = check ] || return 1
        case $1 in
        cxx) have_compiler c++ c++ string && return 1 ;;
        cmocka | libunwind) have_module "$1" && return 1 ;;
        openmpi | mpich) find_mpi "$1" && return 1 ;;
        fortran) have gfortran && return 1 ;;
        hosts) have python3 && python3 -c 'import json' 2>/dev/null && have perl && return 1 ;;
        processes) have pgrep && return 1 ;;
        screens) have tmux && return 1 ;;
        debugger) have gdb && return 1 ;;
        pages) have groff && return 1 ;;
        esac
        ;;
    esac
    return 0
}

# Sets manager, the column of its packages in package_table(), and the command that installs.
find_manager() {
    manager=none column=3 install=''
    if have apt-get; then
        # --no-remove: no installed package may be removed.
        manager=apt
        install='env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove'
    elif have dnf; then
        manager=dnf column=4 install='dnf install -y --setopt=install_weak_deps=False'
    elif have zypper; then
        manager=zypper column=5 install='zypper --non-interactive install --no-recommends'
    elif have pacman; then
        manager=pacman column=6 install='pacman -S --noconfirm --needed'
    fi
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
}

# The command for a user who has the right to install.
by_hand() { # PACKAGE...
    case $manager in
    apt) echo "apt-get update && apt-get install -y --no-install-recommends $*" ;;
    *) echo "$install $*" ;;
    esac
}

# Word splitting of the command is meant.
# shellcheck disable=SC2086
try_install() { # PACKAGE...: with a fresh list of packages where the first attempt fails
    if [ $manager = apt ] && ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
        $as_root apt-get update >>"$log" 2>&1
    fi
    printf '+ %s\n' "$as_root $install $*" >>"$log"
    $as_root $install "$@" >>"$log" 2>&1 && return
    [ $manager = apt ] || return 1
    $as_root apt-get update >>"$log" 2>&1
    $as_root $install "$@" >>"$log" 2>&1
}

install_missing() {
    required='' optional=''
    find_manager
    while IFS='|' read -r name why apt dnf zypper pacman; do
        wanted "$name" || continue
        case $column in
        3) packages=$apt ;; 4) packages=$dnf ;; 5) packages=$zypper ;; 6) packages=$pacman ;;
        esac
        [ -n "$packages" ] || continue
        printf '    missing: %s (%s)\n' "$packages" "$why"
        case $name in
        tools | zlib | mpi) required="$required $packages" ;;
        *) optional="$optional $packages" ;;
        esac
    done <<END
$(package_table)
END
    [ -n "$required$optional" ] || return 0
    if [ $manager = none ]; then
        fail "no package manager that this script knows. Debian's names of what is missing:
  $required$optional"
    fi
    # Word splitting is meant from here on.
    # shellcheck disable=SC2086
    if [ -n "$as_root" ] && ! have sudo; then
        advice="not root and no sudo. Run this as root, then call this script again:
  $(by_hand $required $optional)"
        [ -z "$required" ] || fail "$advice"
        printf '    going on without: %s\n' "$advice"
        return
    fi
    step "install them with $manager${as_root:+ and $as_root}"
    # Installs all at once if possible, which is usual.
    # shellcheck disable=SC2086
    if ! try_install $required $optional; then
        if [ -n "$required" ] && ! try_install $required; then
            tail -n 15 "$log" >&2
            fail "could not install:$required
  as root: $(by_hand $required)"
        fi
        for package in $optional; do
            try_install "$package" || printf '    not available: %s; going on without\n' "$package"
        done
    fi
    hash -r
}

# ---- Build -----------------------------------------------------------------------------------

# The result of configure depends on these: it runs again when one has changed.
configure_key() {
    echo "prefix $build/install"
    for module in zlib libdw jansson ncursesw hwloc papi libunwind cmocka; do
        have_module $module && echo "module $module"
    done
    for flavour in openmpi mpich; do
        find_mpi $flavour && echo "mpi $flavour $found_cc $found_run"
    done
    have gfortran && echo fortran
    have c++ && echo c++
    echo "compiler ${CC-cc} ${CFLAGS-}"
}

# Variables of configure for MPIs whose tools have other names than Debian's.
mpi_variables() {
    for flavour in openmpi mpich; do
        find_mpi $flavour || continue
        upper=$(echo $flavour | tr '[:lower:]' '[:upper:]')
        echo "MPICC_$upper=$found_cc"
        echo "MPIRUN_$upper=$found_run"
    done
}

configure_tree() {
    # shellcheck disable=SC3013 # every sh in use has -nt
    if [ ! -x configure ] || [ configure.ac -nt configure ]; then
        step 'autogen.sh'
        logged ./autogen.sh
    fi
    configure_key >"$build/quickstart.key.new"
    # libtool starts the shell of configure for each file; bash takes twice as long to start.
    [ -n "${CONFIG_SHELL-}" ] || [ ! -x /bin/dash ] || export CONFIG_SHELL=/bin/dash
    if [ ! -f "$build/Makefile" ] || ! cmp -s "$build/quickstart.key.new" "$build/quickstart.key"; then
        step 'configure, in build/'
        # shellcheck disable=SC2046
        (cd "$build" && logged "$top/configure" --prefix="$build/install" $(mpi_variables)) || exit 1
        sed -n '/^pcollect .* for /,$p' "$log" | sed '/^$/d; s/^/    /'
        mv "$build/quickstart.key.new" "$build/quickstart.key"
    fi
}

build_and_install() {
    step "make -j$n_jobs"
    logged make -C "$build" -j"$n_jobs"
    step 'make install, into build/install/'
    logged make -C "$build" install
}

# ---- The example -----------------------------------------------------------------------------

choose_mpi() { # sets MPICC, MPIRUN
    if [ -z "${MPICC-}" ]; then
        find_mpi openmpi || find_mpi mpich || fail 'no MPI found'
        MPICC=$found_cc
        [ -n "${MPIRUN-}" ] || MPIRUN=$found_run
    fi
    MPIRUN=${MPIRUN-mpirun}
}

profile_example() {
    choose_mpi
    # One folder for each compiler: a program of one MPI hangs under the launcher of another.
    folder=$build/quickstart.$(echo "$MPICC" | tr -c 'A-Za-z0-9.\n' _)
    app=$folder/poisson
    mkdir -p "$folder"
    step "build examples/poisson.c with $MPICC"
    logged make -C examples c TO="$folder" MPICC="$MPICC"
    . tests/openmpi.sh
    profile=$build/poisson.$n_ranks.pcol
    # One rank works longer, so that the report has a finding.
    step "pcollect run -- $MPIRUN -n $n_ranks poisson --skew 1, sampled 200 times a second"
    rm -f "$profile"
    PCOLLECT_SAMPLE_FREQUENCY=200 \
        build/install/bin/pcollect run -o "$profile" -- "$MPIRUN" -n $n_ranks "$app" --skew 1 \
        </dev/null ||
        fail "the example failed, status $?"
    [ -s "$profile" ] || fail "no profile was written to $profile"
    step 'pcollect report'
    build/install/bin/pcollect report "$profile" || fail "the report failed, status $?"
    printf '\nThe profile is   %s\nRead it again:   %s\n' "$profile" \
        "build/install/bin/pcollect report build/poisson.$n_ranks.pcol"
    printf 'Your program:    %s\n' "build/install/bin/pcollect run -- $MPIRUN -n $n_ranks ./app"
}

# ---- The tests -------------------------------------------------------------------------------

# Reads Automake's own totals ("# PASS:  12") of one make check; prints the closing line.
closing_line() { # OUTPUT, STATUS
    awk -v status="$2" '
    /^# (PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): / { n[substr($2, 1, length($2) - 1)] = $3 }
    END {
        failed = n["FAIL"] + n["XPASS"] + n["ERROR"]
        if (status != 0 && failed == 0)
            failed = 1 # what broke was not a test: the build, or make itself
        printf "%d passed, %d failed", n["PASS"] + n["XFAIL"], failed
        if (n["SKIP"])
            printf ", %d skipped", n["SKIP"]
        print ""
        exit failed != 0
    }' "$1"
}

run_tests() {
    step 'make check: build the tests'
    logged make -C "$build" -j"$n_jobs" check TESTS=
    # Tests wait for more than half of their time, and there are three for each processor.
    n_tests=$((3 * n_jobs))
    step "make -j$n_tests check-all"
    out=$build/quickstart.check
    # The status of make is kept in a file, because the pipe filters its output: one line for each test script, and
    # every failure in full.
    {
        make -C "$build" -j"$n_tests" -k check-all 2>&1 </dev/null
        echo $? >"$out.status"
    } | tee "$out" | awk '
        /^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): / {
            if (!begun[$2]++) { print "    " $2; fflush() }
            if ($1 != "PASS:" && $1 != "XFAIL:") { print "      " $0; fflush() }
        }'
    status=$(cat "$out.status")
    cat "$out" >>"$log"
    if [ "$status" != 0 ]; then
        if grep -q '^# TOTAL:' "$out"; then
            sh tests/failures.sh "$build" <"$out"
            echo "    all of it: build/test-suite.log"
        else
            tail -n 30 "$out" >&2
        fi
    fi
    closing_line "$out" "$status"
}

# ---- In order --------------------------------------------------------------------------------

mkdir -p "$build" || fail "cannot make $build"
: >"$log" || fail "cannot write $log"
step 'look for what is needed'
install_missing
configure_tree
build_and_install
if [ $mode = check ]; then
    run_tests
else
    profile_example
fi
