# SPDX-License-Identifier: BSD-3-Clause
# Runs what every user can run: ./quickstart.sh check, which ends with the totals of make check-all.
. .ci/common.sh

# LLVM's libunwind may be installed in place of the libunwind with which the walker is compared.
# quickstart.sh, which removes no package, would not replace it.
if command -v apt-get >/dev/null && ! pkg-config --exists libunwind 2>/dev/null; then
    need no-such-program libunwind-dev
fi
# Tools that some tests use if they are installed.
need clang clang libclang-rt-14-dev
need clang-format clang-format
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
need powerpc64le-linux-gnu-gcc gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
need clang-19 clang-19 lld-19 # knows loongarch64
need qemu-aarch64-static qemu-user-static
need valgrind valgrind
need chromedriver chromium chromium-driver python3-selenium
need firefox-esr firefox-esr python3-websocket
need strace strace
need protoc protobuf-compiler
need go golang-go
if ! command -v speedscope >/dev/null; then
    need npm npm
    # Where its registry cannot be reached, the test is skipped.
    timeout 60 npm install -g --prefix "$cache/npm" --fetch-retries 0 --ignore-scripts --no-audit --no-fund \
        speedscope@1.25.0 >>"$work/install.log" 2>&1
    export PATH="$PATH:$cache/npm/bin"
fi
exec ./quickstart.sh check
