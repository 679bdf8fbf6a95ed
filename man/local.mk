# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += man/berth.7 man/berth-energy.7 man/berth-inside.7 man/berthd.8 man/berth-steer.8 man/berthctl.1 man/spank_berth.8 man/berth-protocol.7 \
	man/berth-guide.7 man/berth-models.7 man/berth-security.7 man/berth_blackboard.3 man/berth_mutex.3 man/berth_tasks.3
nodist_man_MANS = man/berth.conf.5 man/berth-facts.7 man/berth-metrics.7
EXTRA_DIST += man/berth.conf.5.in man/berth-facts.7.in man/berth-metrics.7.in
CLEANFILES += man/berth.conf.5 man/berth-facts.7 man/berth-metrics.7

# The keys come from conf.c's own table.
man/berth.conf.5: man/berth.conf.5.in $(CONFDOC)
	$(AM_V_GEN)$(MKDIR_P) man && { \
	sed -n '/^@KEYS[@]$$/q; p' $(srcdir)/man/berth.conf.5.in && \
	$(CONFDOC) mdoc && \
	sed '1,/^@KEYS[@]$$/d; s|@sysconfdir[@]|$(sysconfdir)|' $(srcdir)/man/berth.conf.5.in; \
	} >$@.tmp && mv $@.tmp $@

# The series come from the table of metrics_families.c.
man/berth-metrics.7: man/berth-metrics.7.in $(CONFDOC)
	$(AM_V_GEN)$(MKDIR_P) man && { \
	sed -n '/^@METRICS[@]$$/q; p' $(srcdir)/man/berth-metrics.7.in && \
	$(CONFDOC) metrics-mdoc && \
	sed '1,/^@METRICS[@]$$/d' $(srcdir)/man/berth-metrics.7.in; \
	} >$@.tmp && mv $@.tmp $@

# The figures come from packer/fact/facts.def.
man/berth-facts.7: man/berth-facts.7.in $(CONFDOC)
	$(AM_V_GEN)$(MKDIR_P) man && { \
	sed -n '/^@FACTS[@]$$/q; p' $(srcdir)/man/berth-facts.7.in && \
	$(CONFDOC) facts-mdoc && \
	sed '1,/^@FACTS[@]$$/d' $(srcdir)/man/berth-facts.7.in; \
	} >$@.tmp && mv $@.tmp $@

TESTS += tests/check-man tests/check-words tests/test-words
EXTRA_DIST += tests/check-man tests/told tests/told.sh tests/check-words tests/test-words tests/words

# make html: the pages for a browser, in html/.
html-local: $(dist_man_MANS) $(nodist_man_MANS)
	$(AM_V_GEN)$(srcdir)/man/make-html html $^

CLEANFILES += html/*
dist_noinst_SCRIPTS += man/make-html
EXTRA_DIST += man/berth.css
