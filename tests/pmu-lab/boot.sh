#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Boots an emulated machine whose processor counts instructions and cycles exactly, and whose counter
# of cycles interrupts, and runs there what was built for aarch64: unit tests, the command, and jobs of
# two ranks under MPICH. Of the CI step aarch64, or by hand:
#
#     tests/pmu-lab/boot.sh SYSROOT BUILD [PART...]
#
# SYSROOT: arm64 packages of Debian, unpacked: those of .ci/aarch64.sh
# BUILD:   a build folder for aarch64, configured with --prefix=BUILD/install, installed, with the
#          programs of `make check TESTS=`
# PART:    events, jobs, samples, rotation, findings; else all of them
#
# Needs qemu-system-aarch64, cpio and the cross compiler. Prints TAP; the exit status is 0 if nothing
# failed.
#
# What the machine cannot show: its other events open and stay at 0, so that no finding of misses can
# be made there; counters other than that of cycles interrupt at the next tick of the kernel only
# (qemu 7.2).
set -u
[ $# -ge 2 ] || { echo "usage: $0 SYSROOT BUILD [PART...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) sysroot=$1 build=$2 triplet=aarch64-linux-gnu
shift 2
parts=$*
for tool in qemu-system-aarch64 cpio $triplet-gcc $triplet-readelf; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done
set -- "$sysroot"/boot/vmlinuz-*
kernel=$1
[ -e "$kernel" ] || { echo "1..0 # SKIP the sysroot has no kernel"; exit 0; }

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

compile() { # OUT SOURCE [FLAG...]
    compile_out=$1
    shift
    $triplet-gcc --sysroot="$sysroot" -std=gnu11 -g -O1 -Wall -Wextra -Werror -I"$here/../.." \
        -o "$root/pc/$compile_out" "$@" || exit 1
}

compile loops "$here/loops.c" "$build/counting/.libs/libpccounting.a" "$build/base/.libs/libpcbase.a"
compile known "$here/known.c" -I"$sysroot/usr/include/$triplet/mpich" -lmpich \
    -Wl,-rpath-link,"$sysroot/usr/lib/$triplet" -Wl,--allow-shlib-undefined
compile yield.so -shared -fPIC "$here/../yield.c"
compile sleep.so -shared -fPIC '-DPC_TEST_REST=usleep(500)' "$here/../yield.c"
cp "$build/tests/counting/counting_test" "$root/pc/" || exit 1
cp -r "$build/install/bin" "$build/install/lib" "$root/pc/" || exit 1
rm -f "$root"/pc/lib/pcollect/adapter-openmpi*
cp -L "$sysroot/usr/bin/mpiexec.hydra" "$sysroot/usr/bin/hydra_pmi_proxy" "$root/pc/bin/" || exit 1
cp "$sysroot/bin/busybox" "$root/bin/" && cp "$here/guest.sh" "$root/init" && chmod +x "$root/init" || exit 1
# shellcheck disable=SC2046 # file names without blanks
needed $(find "$root/pc" -type f ! -name '*.la')
(cd "$root" && find . | cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd" || exit 1

timeout 600 qemu-system-aarch64 -M virt -nic none -cpu cortex-a57 -icount shift=1,sleep=off -m 768 \
    -display none -monitor none -serial file:"$work/serial" -no-reboot -kernel "$kernel" \
    -initrd "$work/initrd" -append "console=ttyAMA0 quiet panic=-1 -- $parts" </dev/null ||
    echo "# qemu ended with status $?"
tr -d '\r' <"$work/serial" | grep -E '^((not )?ok |1\.\.|# )' | tee "$work/tap"
grep -q '^1\.\.' "$work/tap" && ! grep -q '^not ok' "$work/tap"
