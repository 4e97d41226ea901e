# SPDX-License-Identifier: BSD-3-Clause
# The viewer of `pcollect html`: modules of JavaScript, in the order in which they need each other, and a
# style, as texts in the library of views.
page_modules = page/dom.js page/units.js page/pixels.js page/data.js page/address.js page/summary.js page/context_metrics.js page/context_tree.js page/context_shape.js page/context_spread.js page/icicle.js \
    page/contexts.js page/rank_classes.js page/ranks.js page/lanes.js page/course.js page/source.js page/communicators.js page/communication.js page/table_view.js page/threads.js page/files.js page/windows.js page/print.js page/chart.js page/scaling.js page/difference.js page/app.js
page_parts = page/style.css $(page_modules)
EXTRA_DIST += page/page_text.awk $(page_parts)
nodist_view_libpcview_la_SOURCES = page/page_text.c
CLEANFILES += page/page_text.c
page/page_text.c: page/page_text.awk $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) page && cd $(srcdir) && \
	    $(AWK) -f page/page_text.awk $(page_parts) >$(abs_top_builddir)/$@.tmp && \
	    mv $(abs_top_builddir)/$@.tmp $(abs_top_builddir)/$@
