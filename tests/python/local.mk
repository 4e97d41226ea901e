# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/python/calls.test tests/python/samples.test
EXTRA_DIST += tests/python/find_python.sh tests/python/calls.py tests/python/heat.py tests/python/churn.py tests/python/mixture.py
