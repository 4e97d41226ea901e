# SPDX-License-Identifier: BSD-3-Clause
project_scripts = tests/project/async.test tests/project/circles.test tests/project/folders.test tests/project/headers.test \
    tests/project/library.test tests/project/sources.test tests/project/tarball.test \
    tests/project/texts.test
TESTS += $(project_scripts)
dist_check_SCRIPTS += $(project_scripts)
EXTRA_DIST += tests/project/tree.sh tests/project/code.awk tests/project/async.allow tests/project/circles.allow \
    tests/project/exported.list
