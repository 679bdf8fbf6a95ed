# SPDX-License-Identifier: GPL-2.0-or-later
# What attacks and faults showed: tests/trust/run prints each with its test; the suite is run by `tests/run`, or by
# tests/cluster/run -s tests/trust.
EXTRA_DIST += \
	tests/trust/check-findings \
	tests/trust/findings \
	tests/trust/run \
	tests/trust/suite.sh \
	tests/trust/t10-users.sh \
	tests/trust/t70-privileges.sh
TESTS += tests/trust/check-findings
