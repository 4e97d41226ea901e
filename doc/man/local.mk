# SPDX-License-Identifier: BSD-3-Clause
dist_man_MANS += doc/man/pcollect.1 doc/man/pcollect-run.1 doc/man/pcollect-recover.1 doc/man/pcollect-report.1 \
    doc/man/pcollect-annotate.1 \
    doc/man/pcollect-config.1 \
    doc/man/pcollect-diff.1 \
    doc/man/pcollect-doctor.1 \
    doc/man/pcollect-embed.1 \
    doc/man/pcollect-events.1 \
    doc/man/pcollect-info.1 \
    doc/man/pcollect-merge.1 \
    doc/man/pcollect-model.1 \
    doc/man/pcollect-scale.1 \
    doc/man/pcollect-topology.1 \
    doc/man/pcollect-verify.1 \
    doc/man/pcollect.conf.5
