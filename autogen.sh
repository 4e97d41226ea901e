#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure from configure.ac. Needs autoconf, automake, libtool and pkg-config.
set -e
cd "$(dirname "$0")"
for tool in autoconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null || {
        echo "autogen.sh: $tool is missing (Debian: apt-get install autoconf automake libtool pkg-config)" >&2
        exit 1
    }
done
mkdir -p build-aux m4
autoreconf --install --force
