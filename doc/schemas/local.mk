# SPDX-License-Identifier: GPL-2.0-or-later
# What berthctl prints with --json, as JSON Schemas; a test holds them against what it prints. They are made of outlines
# (outline.awk), in which the figures of steps come from packer/fact/facts.def.
schemasdir = $(pkgdatadir)/schemas
schemas = doc/schemas/blackboard.schema.json doc/schemas/cluster.schema.json doc/schemas/explain.schema.json doc/schemas/plan.schema.json \
	doc/schemas/policy.schema.json doc/schemas/report.schema.json doc/schemas/status.schema.json
nodist_schemas_DATA = $(schemas)
CLEANFILES += $(schemas)
EXTRA_DIST += doc/schemas/outline.awk $(schemas:.schema.json=.outline)
$(schemas): $(schemas:.schema.json=.outline) doc/schemas/outline.awk $(CONFDOC)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(CONFDOC) facts | $(AWK) -f $(srcdir)/doc/schemas/outline.awk - $(srcdir)/$(@:.schema.json=.outline) >$@.tmp && mv $@.tmp $@

TESTS += tests/schemas/test_schemas.sh
dist_noinst_SCRIPTS += tests/schemas/test_schemas.sh
EXTRA_DIST += tests/schemas/validate.py
