#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Boots an emulated machine whose processor counts instructions and cycles exactly, and whose counter
# of cycles interrupts, and runs there what was built for aarch64: unit tests, the command, and jobs of
# two ranks under MPICH and Open MPI. Of the CI step aarch64, or by hand:
#
#     tests/pmu-lab/boot.sh SYSROOT BUILD [PART...]
#
# SYSROOT: arm64 packages of Debian, unpacked: those of .ci/aarch64.sh
# BUILD:   a build folder for aarch64, configured with --prefix=BUILD/install, installed, with the
#          programs of `make check TESTS=`
# PART:    events, permissions, jobs, samples, rotation, native; else all of them
#
# Needs qemu-system-aarch64, cpio and the cross compiler. Prints TAP; the exit status is 0 if nothing
# failed.
#
# Limits of the machine: its other events open and stay at 0, so that no finding of misses can
# be made there; counters other than that of cycles interrupt at the next tick of the kernel only
# (qemu 7.2).
set -u
[ $# -ge 2 ] || { echo "usage: $0 SYSROOT BUILD [PART...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) top=$(cd "$(dirname "$0")/../.." && pwd) sysroot=$1 build=$2 triplet=aarch64-linux-gnu
shift 2
parts=$*
for tool in qemu-system-aarch64 cpio $triplet-gcc $triplet-readelf; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done
set -- "$sysroot"/boot/vmlinuz-*
kernel=$1
[ -e "$kernel" ] || { echo "1..0 # SKIP the sysroot has no kernel"; exit 0; }

# Modules of Open MPI that two ranks on one node need.
openmpi_modules='allocator_basic allocator_bucket bml_r2 btl_self btl_vader coll_basic coll_libnbc coll_self
    coll_tuned errmgr_default_app errmgr_default_hnp ess_hnp ess_pmi filem_raw grpcomm_direct iof_hnp mpool_hugepage
    odls_default oob_tcp osc_sm patcher_overwrite plm_isolated pmix_ext3x pml_ob1 rcache_grdma reachable_weighted regx_naive
    rmaps_round_robin rml_oob routed_direct routed_radix schizo_ompi schizo_orte shmem_mmap state_app state_hnp
    topo_basic'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc" "$root/pc"

# needed FILE...: copies the libraries that these need, and those that they need.
needed() {
    for file in "$@"; do
        for name in $($triplet-readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            [ ! -e "$root/lib/$name" ] || continue
            found=$(find "$sysroot/usr/lib/$triplet" -name "$name" | head -n 1)
            [ -n "$found" ] || { echo "not in the sysroot: $name" >&2; exit 1; }
            cp -L "$found" "$root/lib/$name"
            needed "$root/lib/$name"
        done
    done
}

# Programs that tests/lib.sh would have a compiler make are taken from here (prebuilt, below).
compile() { # OUT SOURCE [FLAG...]
    compile_out=$1
    shift
    $triplet-gcc --sysroot="$sysroot" -std=gnu11 -g -O1 -Wall -Wextra -Werror -I"$top" \
        -o "$root/pc/built/$compile_out" "$@" -Wl,-rpath-link,"$sysroot/usr/lib/$triplet" \
        -Wl,--allow-shlib-undefined || exit 1
}

mkdir -p "$root/pc/built" "$root/pc/src/tests/counting" "$root/tmp/build"
compile loops "$here/loops.c" "$build/counting/.libs/libpccounting.a" "$build/base/.libs/libpcbase.a"
compile rights "$here/rights.c"
compile filtered "$here/../counting/filtered.c"
compile known-mpich "$here/known.c" -I"$sysroot/usr/include/$triplet/mpich" -lmpich
compile known-openmpi "$here/known.c" -I"$sysroot/usr/lib/$triplet/openmpi/include" \
    -L"$sysroot/usr/lib/$triplet/openmpi/lib" -lmpi
compile yield.so -shared -fPIC "$here/../yield.c"
compile sleep.so -shared -fPIC "$here/../sleep.c"
cp "$build/tests/counting/counting_test" "$root/pc/" || exit 1
cp -r "$build/install/bin" "$build/install/lib" "$root/pc/" || exit 1
cp -r "$here" "$here/../lib.sh" "$here/../openmpi.sh" "$root/pc/src/tests/" || exit 1
cp "$top/doc/permissions.md" "$root/pc/src/" || exit 1
cp "$here/../counting/hardware.test" "$root/pc/src/tests/counting/" || exit 1
cat >"$root/bin/prebuilt" <<'END' && chmod +x "$root/bin/prebuilt" || exit 1
#!/bin/sh
# Stand-in for a compiler.
while [ "$1" != -o ]; do shift; done
name=${2##*/}
exec cp "/pc/built/${name%.[0-9]*}" "$2"
END
cp -L "$sysroot/usr/bin/mpiexec.hydra" "$sysroot/usr/bin/hydra_pmi_proxy" "$root/pc/bin/" || exit 1

# Open MPI: its modules are installed where it searches for them.
modules=usr/lib/$triplet/openmpi/lib/openmpi3
mkdir -p "$root/usr/bin" "$root/$modules" "$root/usr/share"
cp -L "$sysroot/usr/bin/orterun" "$root/usr/bin/" || exit 1
for module in $openmpi_modules; do
    cp "$sysroot/$modules/mca_$module.so" "$root/$modules/" || exit 1
done
mkdir -p "$root/usr/lib/$triplet/pmix2/lib"
cp -r "$sysroot/usr/lib/$triplet/pmix2/lib/pmix" "$root/usr/lib/$triplet/pmix2/lib/" || exit 1
cp -r "$sysroot/usr/share/openmpi" "$root/usr/share/" || exit 1

cp "$sysroot/bin/busybox" "$root/bin/" && cp "$here/guest.sh" "$root/init" && chmod +x "$root/init" || exit 1
# shellcheck disable=SC2046 # file names without blanks
needed $(find "$root/pc" "$root/usr" -type f \( -name '*.so*' -o -perm -100 \) ! -name '*.la' ! -name '*.sh' ! -name '*.test')
(cd "$root" && find . | cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd" || exit 1

timeout 1800 qemu-system-aarch64 -M virt -nic none -cpu cortex-a57 -icount shift=1,sleep=off -m 768 \
    -display none -monitor none -serial file:"$work/serial" -no-reboot -kernel "$kernel" \
    -initrd "$work/initrd" -append "console=ttyAMA0 quiet panic=-1 -- $parts" </dev/null ||
    echo "# qemu ended with status $?"
tr -d '\r' <"$work/serial" | grep -E '^((not )?ok |1\.\.|# )' | tee "$work/tap"
grep -q '^1\.\.' "$work/tap" && ! grep -q '^not ok' "$work/tap"
