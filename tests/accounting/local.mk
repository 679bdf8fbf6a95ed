# SPDX-License-Identifier: GPL-2.0-or-later
# The suite with slurmdbd and MariaDB: `tests/run` runs it (as root), or tests/cluster/run -s tests/accounting.
EXTRA_DIST += \
	tests/accounting/suite.sh \
	tests/accounting/t10-comments.sh \
	tests/accounting/t20-report.sh \
	tests/accounting/t25-benefit.sh \
	tests/accounting/t30-qos.sh \
	tests/accounting/t40-energy.sh \
	tests/accounting/t50-mariadb.sh \
	tests/accounting/t60-identity.sh \
	tests/accounting/t70-job.sh \
	tests/accounting/t80-tres.sh \
	tests/accounting/t90-told.sh
