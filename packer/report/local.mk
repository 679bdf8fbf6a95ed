# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/report/allocation.c packer/report/allocation.h \
	packer/report/benefit.c packer/report/benefit.h \
	packer/report/benefit_figure.c \
	packer/report/benefit_json.c \
	packer/report/benefit_mean.c packer/report/benefit_mean.h \
	packer/report/benefit_programs.c packer/report/benefit_programs.h \
	packer/report/benefit_text.c \
	packer/report/benefit_verdict.c packer/report/benefit_verdict.h \
	packer/report/calendar.c packer/report/calendar.h \
	packer/report/fields.c packer/report/fields.h \
	packer/report/format.c \
	packer/report/html.c packer/report/html.h \
	packer/report/html_days.c \
	packer/report/html_gather.c \
	packer/report/html_impl.h \
	packer/report/html_power.c \
	packer/report/intern.c packer/report/intern.h \
	packer/report/join.c packer/report/join.h \
	packer/report/merge.c \
	packer/report/node_list.c packer/report/node_list.h \
	packer/report/report.c packer/report/report.h \
	packer/report/sacct_time.c packer/report/sacct_time.h \
	packer/report/steered.c packer/report/steered.h \
	packer/report/table.c packer/report/table.h \
	packer/report/terms.c packer/report/terms.h \
	packer/report/totals.c packer/report/totals.h \
	packer/report/variation.c packer/report/variation.h \
	packer/report/variation_page.c

# The page as C strings: what stands before the JSON that it draws, and what stands behind it.
nodist_libpacker_la_SOURCES = packer/report/page.c
CLEANFILES += packer/report/page.c
page_parts = packer/report/page.html packer/report/page.css packer/report/page.js
EXTRA_DIST += $(page_parts)
packer/report/page.c: $(page_parts) packer/report/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
		echo '/* SPDX-License-Identifier: GPL-2.0-or-later */'; echo '#include "packer/report/html_impl.h"'; \
		echo 'const char page_head[] ='; \
		sed -e '/^@style@/{r $(srcdir)/packer/report/page.css' -e 'd}' -e '/^@script@/{r $(srcdir)/packer/report/page.js' -e 'd}' \
			$(srcdir)/packer/report/page.html | \
			sed '/SPDX/d; s/[\\"]/\\&/g; s/.*/    "&\\n"/; s/^    "@data@\\n"/    ;\nconst char page_tail[] =/'; \
		echo '    ;'; \
	} >$@.tmp && mv $@.tmp $@
