# SPDX-License-Identifier: GPL-2.0-or-later
# What berthctl prints with --json, as JSON Schemas; a test holds them against what it prints.
schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = doc/schemas/blackboard.schema.json doc/schemas/explain.schema.json doc/schemas/plan.schema.json doc/schemas/report.schema.json \
	doc/schemas/status.schema.json
TESTS += tests/schemas/test_schemas.sh
dist_noinst_SCRIPTS += tests/schemas/test_schemas.sh
EXTRA_DIST += tests/schemas/validate.py
