# SPDX-License-Identifier: GPL-2.0-or-later
# The suites on other Debian series, each with its compiler, libraries and Slurm: as root, part of tests/nightly.
dist_noinst_SCRIPTS += tests/slurm/inside tests/slurm/run
EXTRA_DIST += tests/counting.sh tests/folders.sh tests/slurm/FINDINGS.md tests/slurm/test_inside.sh
TESTS += tests/slurm/test_inside.sh
