# SPDX-License-Identifier: BSD-3-Clause
# clang-format over every C file, shellcheck over every shell script, whatever they were made with.
. .ci/common.sh

need clang-format clang-format
need shellcheck shellcheck

c_files_are_formatted() {
    tree_files | grep '\.[ch]$' | xargs clang-format --dry-run --Werror
}

# Warnings and errors; the rest is taste.
scripts_are_clean() {
    tree_files | grep -E '(\.sh|\.test|^\.ci/run|run-unit|run-test)$' |
        xargs -P "$n_jobs" -n 20 shellcheck --severity=error --shell=bash --external-sources
}

check 'clang-format leaves every C file as it is' c_files_are_formatted
check 'shellcheck finds no error' scripts_are_clean
closing
