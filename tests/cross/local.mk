# SPDX-License-Identifier: GPL-2.0-or-later
# Built for arm64 on another machine, and its unit programs run there under emulation: as root, part of tests/nightly.
dist_noinst_SCRIPTS += tests/cross/build tests/cross/run
EXTRA_DIST += tests/cross/emulated.sh tests/cross/unable
