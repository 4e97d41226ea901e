# SPDX-License-Identifier: BSD-3-Clause
# Checks every C file with clang-format and every shell script with shellcheck.
. .ci/common.sh

need clang-format clang-format
need shellcheck shellcheck

c_files_are_formatted() {
    tree_files | grep '\.[ch]$' | xargs clang-format --dry-run --Werror
}

# Only warnings and errors; other messages are about style.
scripts_are_clean() {
    tree_files | grep -E '(\.sh|\.test|^\.ci/run|run-unit|run-test)$' |
        xargs -P "$n_jobs" -n 20 shellcheck --severity=error --shell=bash --external-sources
}

check 'clang-format leaves every C file as it is' c_files_are_formatted
check 'shellcheck finds no error' scripts_are_clean
closing
