# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/project/async.test tests/project/circles.test tests/project/cputime.test tests/project/folders.test tests/project/glossary.test tests/project/headers.test tests/project/howto.test \
    tests/project/library.test tests/project/rooms.test tests/project/signalled.test tests/project/sources.test tests/project/tarball.test \
    tests/project/texts.test tests/project/tutorials.test tests/project/used.test
EXTRA_DIST += tests/project/tree.sh tests/project/code.awk tests/project/howto.awk tests/project/console.awk tests/project/async.allow tests/project/circles.allow \
    tests/project/exported.list
