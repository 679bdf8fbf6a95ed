# SPDX-License-Identifier: GPL-2.0-or-later
# Guests under emulation, by commands of their own: tests/vm/pmu counts hardware events for real. Not part of `make check`.
dist_noinst_SCRIPTS += tests/vm/pmu
EXTRA_DIST += tests/vm/many.conf tests/vm/pmu_guest.c
