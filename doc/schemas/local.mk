# SPDX-License-Identifier: GPL-2.0-or-later
# What berthctl prints with --json, as JSON Schemas; a test holds them against what it prints.
schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = doc/schemas/blackboard.schema.json doc/schemas/cluster.schema.json doc/schemas/plan.schema.json doc/schemas/policy.schema.json
TESTS += tests/schemas/test_schemas.sh
dist_noinst_SCRIPTS += tests/schemas/test_schemas.sh
EXTRA_DIST += tests/schemas/validate.py

# The figures of steps come from packer/fact/facts.def.
filled_schemas = doc/schemas/explain.schema.json doc/schemas/report.schema.json doc/schemas/status.schema.json
nodist_schemas_DATA = $(filled_schemas)
EXTRA_DIST += doc/schemas/fill.awk $(filled_schemas:=.in)
CLEANFILES += $(filled_schemas)
$(filled_schemas): $(filled_schemas:=.in) doc/schemas/fill.awk $(CONFDOC)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(CONFDOC) facts | $(AWK) -f $(srcdir)/doc/schemas/fill.awk - $(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
