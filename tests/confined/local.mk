# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command with what a unit file leaves to a service: the cluster suite runs berthd so (CLUSTER_CONFINE). Needs libseccomp.
if SECCOMP
check_PROGRAMS += tests/confined/confined
tests_confined_confined_SOURCES = tests/confined/calls.c tests/confined/confined.c tests/confined/confined.h \
	tests/confined/mounts.c tests/confined/powers.c tests/confined/unit.c tests/confined/unit.h
tests_confined_confined_LDADD = libpacker.la libwire.la $(SECCOMP_LIBS)
endif
check_PROGRAMS += tests/confined/reach
tests_confined_reach_SOURCES = tests/confined/reach.c
dist_noinst_SCRIPTS += tests/confined/run tests/confined/systemd
