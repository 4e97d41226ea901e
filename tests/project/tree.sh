# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests that read the tree itself: which files are the project's. Paths are relative
# to the top, and the tests run there. Works in a clone and in an unpacked tarball, where a build
# folder of any name may lie inside.

cd "$PC_SRC" || exit 1
tree_build=$(cd "$PC_BUILD" && pwd -P)

tree_files() { # [PATTERN...]: regular expressions of grep -E for whole paths, any of them
    find . \( -name .git -o -path './build*' -o -path './_*' -o -path ./autom4te.cache \
        -o -path "./${tree_build#"$(pwd -P)"/}" \) -prune \
        -o -type f ! -path './m4/l*' ! -name 'configure*~' ! -name configure ! -name aclocal.m4 \
        ! -name Makefile.in ! -name 'config.h.in*' ! -name '*.pcol' ! -name '*.[oa]' \
        ! -name '*.tar.*' -printf '%P\n' | LC_ALL=C sort |
        grep -E "${1-.}"
}

c_files='\.[ch]$'
code_files='(\.[chS]|\.f90|\.sh|\.test|\.awk|\.mk|\.am|\.ac|\.m4|/run|/run-unit|/run-test|/Makefile)$'

# C without comments, strings and character constants: FILE:LINE:CODE for each line of the files.
code_of() { # FILE...
    awk -f "$PC_SRC/tests/project/code.awk" "$@"
}

# none FILE NAME: passed if the file of findings is empty.
none() {
    if [ ! -s "$1" ]; then
        ok 0 "$2"
    else
        fail "$2" "$(sed '20q' "$1")"
    fi
}
