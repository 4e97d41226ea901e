# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += doc/internals
EXTRA_DIST += doc/json.md doc/library.md doc/count.md doc/report.schema.json doc/tutorial.md doc/tutorial-scaling.md doc/tutorial-counters.md doc/findings.md doc/what-happens-when.md doc/error-bars.md
EXTRA_DIST += doc/glossary.md doc/performance.md doc/performance.svg doc/page.png doc/page-source.png doc/page-difference.png doc/scaling.svg doc/topology.svg doc/rotation.svg doc/howto doc/bytes.md doc/compared.md doc/coverage.md doc/permissions.md doc/debugger.md
