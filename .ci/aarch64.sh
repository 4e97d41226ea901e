# SPDX-License-Identifier: BSD-3-Clause
# The other architecture: a cross build against Debian's arm64 packages, the unit tests and jobs of
# both MPIs under qemu-user. The launcher is this machine's mpirun, the ranks are aarch64 programs.
# Then real counters: an emulated machine that has them (tests/pmu-lab).
#
# Results are compared with those of this machine: the same program makes the same calls, from the same lines, with the
# same bytes on both architectures, and make check has verified the native profile.
. .ci/common.sh

sysroot=$cache/arm64
triplet=aarch64-linux-gnu
folder=$work/aarch64
native=$work/native
qemu="qemu-aarch64-static -L $sysroot"

# Packages that are built against and run under qemu-user, and those that the emulated machine boots.
arm64_packages='libc6-dev zlib1g-dev libdw-dev libunwind-dev libcmocka-dev libopenmpi-dev openmpi-bin
    libmpich-dev mpich libpapi-dev libpfm4-dev linux-image-cloud-arm64 busybox-static'

# Debian's arm64 packages are not installed in this system: apt uses lists and a cache of its own, and the packages are
# only unpacked.
make_sysroot() {
    [ "$(cat "$sysroot/complete" 2>/dev/null)" = "$arm64_packages" ] && return
    rm -rf "$sysroot"
    local apt=$cache/apt-arm64
    mkdir -p "$sysroot" "$apt"/{lists,cache/archives/partial} "$sysroot"/usr/{lib,bin,sbin} || return
    : >"$apt/status"
    apt_arm64() {
        apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
            -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
            -o Dir::Cache="$apt/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" "$@"
    }
    apt_arm64 update || return
    # shellcheck disable=SC2086
    apt_arm64 -y --no-install-recommends --download-only install $arm64_packages || return
    # One /usr, as on a running system: packages still contain /lib and /bin.
    ln -s usr/lib "$sysroot/lib" && ln -s usr/bin "$sysroot/bin" && ln -s usr/sbin "$sysroot/sbin"
    local package
    for package in "$apt"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$sysroot" --keep-directory-symlink || return
    done
    make_links_relative
    echo "$arm64_packages" >"$sysroot/complete"
}

# An absolute link would lead from the sysroot into this machine.
make_links_relative() {
    local link
    find "$sysroot" -type l -lname '/*' | while read -r link; do
        ln -sfn "$(realpath -m --relative-to="${link%/*}" "$sysroot$(readlink "$link")")" "$link"
    done
}

cross_build() {
    local -x PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR # not for the native build
    mkdir -p "$folder" && cd "$folder" || return
    PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig
    PKG_CONFIG_SYSROOT_DIR=$sysroot
    "$top/configure" --host=$triplet --build="$(gcc -dumpmachine)" --prefix="$folder/install" \
        --enable-werror CC="$triplet-gcc --sysroot=$sysroot" &&
        building make -j"$n_jobs" && make install &&
        building make -j"$n_jobs" check TESTS= &&
        file_is_there "$folder/install/lib/pcollect/adapter-openmpi.so" &&
        file_is_there "$folder/install/lib/pcollect/adapter-mpich.so"
}

# Uses the build of quickstart.sh, if the step check has made one.
native_build() {
    if [ -f "$top/build/Makefile" ]; then
        native=$top/build
    else
        mkdir -p "$native" && (cd "$native" && "$top/configure" -q --prefix="$native/install") || return
    fi
    make -s -C "$native" -j"$n_jobs" && make -s -C "$native" install
}

file_is_there() {
    [ -e "$1" ] || { echo "not there: $1"; return 1; }
}

# include_and_link FLAVOUR: what the compiler wrapper of this MPI would add, in the sysroot.
include_and_link() {
    case $1 in
    openmpi)
        echo "-I$sysroot/usr/lib/$triplet/openmpi/include -L$sysroot/usr/lib/$triplet/openmpi/lib -lmpi"
        ;;
    mpich) echo "-I$sysroot/usr/include/$triplet/mpich -lmpich" ;;
    esac
}

# Prints the flags of Fortran programs; the modules of Debian's MPIs are those of its gfortran.
fortran_flags() {
    case $1 in
    openmpi)
        echo "-I$sysroot/usr/lib/$triplet/fortran/gfortran-mod-15/openmpi -L$sysroot/usr/lib/$triplet/openmpi/lib" \
            "-lmpi_usempif08 -lmpi_usempi_ignore_tkr -lmpi_mpifh -lmpi"
        ;;
    mpich) echo "-I$sysroot/usr/include/$triplet/mpich -lmpichfort -lmpich" ;;
    esac
}

# Calls and bytes by context, without times.
counts_of() { # PROFILE
    "$native/install/bin/pcollect" report --table contexts --format tsv "$1" | awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        { print $at["path"], $at["primitive"], $at["calls"], $at["bytes_sent"], $at["bytes_received"] }
    ' | LC_ALL=C sort
}

# Runs one job here and under qemu; MPI_Test and its kind would depend on timing, the examples have none.
job() { # FLAVOUR c|f08
    local mpi=$1 language=$2 out=$work/aarch64-$1-$2 least=20
    rm -rf "$out" && mkdir -p "$out" && cd "$out" || return
    compile_$language "$mpi" || return
    PCOLLECT_OUTPUT_PATH=$out/native.pcol timeout 120 "mpirun.$mpi" -n 2 \
        env LD_PRELOAD="$native/install/lib/libpcollect.so" ./app.native $example_arguments || return
    # shellcheck disable=SC2086
    PCOLLECT_OUTPUT_PATH=$out/arm64.pcol timeout 300 "mpirun.$mpi" -n 2 \
        $qemu -E LD_PRELOAD="$folder/install/lib/libpcollect.so" ./app.arm64 $example_arguments || return
    counts_of native.pcol >native.counts && counts_of arm64.pcol >arm64.counts || return
    [ "$language" = c ] || least=10
    [ "$(wc -l <native.counts)" -gt $least ] || { echo 'too few contexts'; cat native.counts; return 1; }
    diff -u native.counts arm64.counts
}

link_flags="-Wl,-rpath-link,$sysroot/usr/lib/$triplet -Wl,--allow-shlib-undefined"

compile_c() { # FLAVOUR
    # shellcheck disable=SC2046,SC2086
    "$triplet-gcc" --sysroot="$sysroot" -std=gnu11 $example_flags -o app.arm64 "$top/examples/poisson.c" \
        $(include_and_link "$1") -lm $link_flags &&
        "mpicc.$1" -std=gnu11 $example_flags -o app.native "$top/examples/poisson.c" -lm
}

compile_f08() { # FLAVOUR
    # shellcheck disable=SC2046,SC2086
    "$triplet-gfortran" --sysroot="$sysroot" $example_flags -o app.arm64 "$top/examples/halo_f08.f90" \
        $(fortran_flags "$1") $link_flags &&
        "mpif90.$1" $example_flags -o app.native "$top/examples/halo_f08.f90"
}

# Under qemu-user there is no perf_event_open: a POSIX timer interrupts. The program knows the CPU time of its
# functions. Bound: 5 standard errors, and 10 % for what the interrupts add.
sampled_job() { # FLAVOUR
    local mpi=$1 out=$work/aarch64-$1-sampled
    rm -rf "$out" && mkdir -p "$out" && cd "$out" || return
    # shellcheck disable=SC2046,SC2086
    "$triplet-gcc" --sysroot="$sysroot" -std=gnu11 -O1 -g -I"$top" -o known "$top/tests/pmu-lab/known.c" \
        $(include_and_link "$mpi") $link_flags || return
    # shellcheck disable=SC2086
    PCOLLECT_OUTPUT_PATH=$out/arm64.pcol PCOLLECT_SAMPLE_FREQUENCY=200 timeout 300 "mpirun.$mpi" -n 2 \
        $qemu -E LD_PRELOAD="$folder/install/lib/libpcollect.so" ./known mix 2000 >own || return
    report_of sampling --columns source | sort -u >sources
    report_of functions --columns function,inclusive_samples,cpu_inclusive_s >functions
    cat own sources functions
    [ "$(cat sources)" = timer ] && awk '
        FILENAME == "own" { truth[$1] = $3; next }
        { split($0, f, "\t") }
        f[1] in truth && f[1] != "brief" {
            seen++
            error = 5 * truth[f[1]] / sqrt(f[2] + 1) + 0.1 * truth[f[1]]
            if (f[3] - truth[f[1]] > error || truth[f[1]] - f[3] > error) bad = 1
        }
        END { exit bad || seen != 2 }' own functions
}

report_of() { # TABLE [OPTION]...
    "$native/install/bin/pcollect" report --table "$@" --format tsv arm64.pcol 2>/dev/null | sed 1d
}

# The checks of the emulated machine are those that it prints.
pmu_lab() {
    local tap=$work/pmu-lab.tap begin=$SECONDS good bad
    sh "$top/tests/pmu-lab/boot.sh" "$sysroot" "$folder" >"$tap" 2>&1 </dev/null
    if grep -q '^1\.\.0 # SKIP' "$tap"; then
        skip 'pmu-lab' "$(sed -n 's/^1\.\.0 # SKIP //p' "$tap")"
        return
    fi
    good=$(grep -c '^ok ' "$tap") bad=$(grep -c '^not ok ' "$tap")
    grep -q '^1\.\.[1-9]' "$tap" || bad=$((bad + 1)) # it did not reach its end
    [ "$bad" = 0 ] || sed 's/^/    | /' "$tap"
    n_passed=$((n_passed + good)) n_failed=$((n_failed + bad))
    echo "  counters of an emulated machine: $good passed, $bad failed ($((SECONDS - begin)) s)"
}

# Not optimised: which calls are inlined differs by architecture, and fused multiply-add would change
# the number of iterations.
example_flags='-O0 -g -ffp-contract=off'
example_arguments='-n 64'

# Tests of limits that qemu-user does not hold ask for PC_TEST_EMULATED.
need $triplet-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need $triplet-gfortran gfortran-aarch64-linux-gnu
need qemu-aarch64-static qemu-user-static
need qemu-system-aarch64 qemu-system-arm
need cpio cpio
[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'arm64 packages' make_sysroot &&
    check 'aarch64: cross build, install and test programs' cross_build &&
    PC_TEST_EMULATED=1 unit_tests "$folder" 'under qemu' LOG_COMPILER="sh $top/tests/run-test sh $top/tests/run-unit $qemu"
check 'native build to compare with' native_build
for mpi in openmpi mpich; do
    check "aarch64: $mpi job has the contexts, calls and bytes of the native one" job $mpi c
    check "aarch64: $mpi job of mpi_f08 has the contexts, calls and bytes of the native one" job $mpi f08
    check "aarch64: $mpi job is sampled by timers, and its functions have the time that they took" sampled_job $mpi
done
pmu_lab
closing
