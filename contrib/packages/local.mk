# SPDX-License-Identifier: GPL-2.0-or-later
# Packages for Debian and Red Hat: what makes them, and contrib/packages/run, which builds, checks and tries them.
dist_noinst_SCRIPTS += contrib/packages/debianize contrib/packages/machine contrib/packages/run contrib/packages/trial
EXTRA_DIST += contrib/packages/README.md contrib/packages/berth.conf contrib/packages/berth.spec contrib/packages/debian \
    contrib/packages/machines.sh contrib/packages/macros.redhat contrib/packages/rpmlint.toml contrib/packages/trial.debian contrib/packages/trial.rpm
