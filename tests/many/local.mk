# SPDX-License-Identifier: GPL-2.0-or-later
# The suite with fifty slurmd on this host: `tests/nightly many` runs it (as root), or tests/cluster/run -s tests/many.
EXTRA_DIST += \
	tests/many/suite.sh \
	tests/many/t10-steer.sh \
	tests/many/t20-queue.sh
