# SPDX-License-Identifier: GPL-2.0-or-later
# Packages for Debian and Red Hat: what makes them.
dist_noinst_SCRIPTS += contrib/packages/debianize
EXTRA_DIST += contrib/packages/README.md contrib/packages/berth.conf contrib/packages/berth.spec contrib/packages/debian
