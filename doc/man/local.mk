# SPDX-License-Identifier: BSD-3-Clause
# A program fills in the tables of the code while a page is built. If it cannot run because it was built for
# another processor (status 126), the page says which command shows them.
made_pages = doc/man/pcollect.1 doc/man/pcollect.conf.5 \
    doc/man/pcollect-annotate.1 \
    doc/man/pcollect-average.1 \
    doc/man/pcollect-browse.1 \
    doc/man/pcollect-checkpoint.1 \
    doc/man/pcollect-config.1 \
    doc/man/pcollect-diff.1 \
    doc/man/pcollect-doctor.1 \
    doc/man/pcollect-embed.1 \
    doc/man/pcollect-events.1 \
    doc/man/pcollect-export.1 \
    doc/man/pcollect-html.1 \
    doc/man/pcollect-info.1 \
    doc/man/pcollect-model.1 \
    doc/man/pcollect-record.1 \
    doc/man/pcollect-top.1 \
    doc/man/pcollect-recover.1 \
    doc/man/pcollect-report.1 \
    doc/man/pcollect-run.1 \
    doc/man/pcollect-scale.1 \
    doc/man/pcollect-stat.1 \
    doc/man/pcollect-topology.1 \
    doc/man/pcollect-verify.1 \
    doc/man/pcollect-where.1
page_texts = $(made_pages:=.in)
nodist_man_MANS += $(made_pages)
CLEANFILES += $(made_pages)
EXTRA_DIST += $(page_texts)
noinst_PROGRAMS += doc/man/make_page
doc_man_make_page_SOURCES = doc/man/make_page.c
doc_man_make_page_LDADD = $(command_pcollect_LDADD)

$(made_pages): $(page_texts) doc/man/make_page$(EXEEXT)
	$(AM_V_GEN)name=$(@F); name=$${name%.*}; rm -f $@; \
	doc/man/make_page$(EXEEXT) $${name#pcollect} <$(srcdir)/$@.in >$@.tmp || { test $$? = 126 && \
	sed 's/^@.*@$$/The options \-\-help and \-\-table help of the command, and pcollect config \-\-template, list them./' \
	    $(srcdir)/$@.in >$@.tmp; } && mv $@.tmp $@

# bash looks for the completion of a command under its name.
completiondir = $(datadir)/bash-completion/completions
nodist_completion_DATA = doc/man/bash/pcollect
CLEANFILES += doc/man/bash/pcollect
EXTRA_DIST += doc/man/completion.bash.in

doc/man/bash/pcollect: doc/man/completion.bash.in doc/man/make_page$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D); rm -f $@; \
	doc/man/make_page$(EXEEXT) <$(srcdir)/doc/man/completion.bash.in >$@.tmp || { test $$? = 126 && \
	sed '/^@.*@$$/d' $(srcdir)/doc/man/completion.bash.in >$@.tmp; } && mv $@.tmp $@
