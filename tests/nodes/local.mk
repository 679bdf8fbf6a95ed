# SPDX-License-Identifier: GPL-2.0-or-later
# The suite with two nodes, a berthd each: `tests/run` runs it (as root), or tests/cluster/run -s tests/nodes.
EXTRA_DIST += \
	tests/nodes/suite.sh \
	tests/nodes/t10-nodes.sh tests/nodes/t20-apart.sh tests/nodes/t30-steer.sh
