# SPDX-License-Identifier: GPL-2.0-or-later
# The suite with slurmdbd and MariaDB: `tests/run` runs it (as root), or tests/cluster/run -s tests/accounting.
EXTRA_DIST += \
	tests/accounting/suite.sh
