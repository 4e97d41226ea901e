# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/python/calls.test tests/python/extension.test tests/python/outside.test tests/python/samples.test tests/python/structures.test
EXTRA_DIST += tests/python/find_python.sh tests/python/calls.py tests/python/heat.py tests/python/churn.py tests/python/mixture.py tests/python/nested.py \
    tests/python/handler.c tests/python/layout.c tests/python/location_lines.c tests/python/tables.py
