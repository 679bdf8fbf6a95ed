# SPDX-License-Identifier: GPL-2.0-or-later
# What attacks and faults showed: tests/trust/run prints each with its test; the suite is run by `tests/run`, or by
# tests/cluster/run -s tests/trust.
check_PROGRAMS += tests/trust/breed
tests_trust_breed_LDADD =
EXTRA_DIST += \
	tests/trust/check-findings \
	tests/trust/findings \
	tests/trust/run \
	tests/trust/suite.sh \
	tests/trust/t10-users.sh \
	tests/trust/t20-bill.sh \
	tests/trust/t20-flood.sh \
	tests/trust/t20-profiles.sh \
	tests/trust/t30-processes.sh \
	tests/trust/t70-privileges.sh
TESTS += tests/trust/check-findings

# What a user can do at the socket.
noinst_PROGRAMS += tests/trust/hostile
tests_trust_hostile_LDADD = libwire.la
