# SPDX-License-Identifier: GPL-2.0-or-later
# Files of a site: berth.conf comes from the table in conf.c;
# the unit and the plugstack line get their paths.
EXTRA_DIST += etc/berthd.service.in etc/plugstack.conf.d/berth.conf
CLEANFILES += etc/berth.conf etc/berthd.service etc/plugstack-berth.conf

etc/berth.conf: $(CONFDOC)
	$(AM_V_GEN)$(MKDIR_P) etc && $(CONFDOC) conf >$@.tmp && mv $@.tmp $@

etc/berthd.service: etc/berthd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && \
	sed 's|@sbindir[@]|$(sbindir)|; s|@pkgdatadir[@]|$(pkgdatadir)|' $(srcdir)/etc/berthd.service.in >$@.tmp && mv $@.tmp $@

etc/plugstack-berth.conf: etc/plugstack.conf.d/berth.conf Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && \
	sed 's|/usr/lib/berth|$(pkglibdir)|; s|/run/berth|$(runstatedir)/berth|' \
		$(srcdir)/etc/plugstack.conf.d/berth.conf >$@.tmp && mv $@.tmp $@

# What other keys than the defaults need, for a site to copy: see berthd(8), PRIVILEGES.
dropindir = $(pkgdatadir)/berthd.service.d
dist_dropin_DATA = etc/berthd.service.d/10-network.conf etc/berthd.service.d/20-lock-time.conf \
	etc/berthd.service.d/30-mariadb.conf etc/berthd.service.d/40-metrics.conf etc/berthd.service.d/50-groups.conf \
	etc/berthd.service.d/60-reuse-sampling.conf etc/berthd.service.d/70-prefetch.conf etc/berthd.service.d/80-frequency.conf \
	etc/berthd.service.d/90-user.conf

nodist_systemdunit_DATA = etc/berthd.service

# Beside slurmctld.
EXTRA_DIST += etc/berth-steer.service.in etc/berth-steer-undo.service.in etc/berth-steer-undo.timer
CLEANFILES += etc/berth-steer.service etc/berth-steer-undo.service
if HAVE_SLURMDB
nodist_systemdunit_DATA += etc/berth-steer.service etc/berth-steer-undo.service
dist_systemdunit_DATA = etc/berth-steer-undo.timer
endif

etc/berth-steer.service etc/berth-steer-undo.service: etc/%.service: etc/%.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && \
	sed 's|@sbindir[@]|$(sbindir)|; s|@sysconfdir[@]|$(sysconfdir)|; s|@localstatedir[@]|$(localstatedir)|' $< >$@.tmp && mv $@.tmp $@

# MailProg of slurm.conf.
dist_pkglibexec_SCRIPTS = etc/berth-mail

dist_doc_DATA = README.md NEWS COPYING

# The picture that README.md shows, where its link looks for it.
picturedir = $(docdir)/doc
dist_picture_DATA = doc/plan.svg

# Samples: a site's own berth.conf is never touched by an installation.
exampledir = $(docdir)/examples
nodist_example_DATA = etc/berth.conf etc/plugstack-berth.conf

# Machine profiles of published machines; berthctl calibrate writes one of this machine.
machinesdir = $(pkgdatadir)/machines
dist_machines_DATA = etc/machines/amd-6174-8x6.json etc/machines/intel-x7550-4x8.json

# Hardware events of each micro-architecture, for berth.conf's event_table.
dist_pkgdata_DATA = etc/events.conf
