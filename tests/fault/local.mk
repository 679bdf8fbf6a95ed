# SPDX-License-Identifier: GPL-2.0-or-later
# berthd killed at, or refused, one system call after the other: tests/fault/calls runs it, as root.
check_PROGRAMS += tests/fault/test_fault
tests_fault_test_fault_SOURCES = tests/fault/crowd.c tests/fault/node.c tests/fault/node.h tests/fault/pair.c \
	tests/fault/registers.c tests/fault/test_fault.c tests/fault/trace.c tests/fault/trace.h

# berthd itself, to which the lock time of threads is played.
check_PROGRAMS += tests/fault/berthd
tests_fault_berthd_SOURCES = packer/daemon/berthd.c tests/fault/played_locks.c
tests_fault_berthd_LDADD = $(PACKER_LIBS)

check_PROGRAMS += tests/fault/killat
tests_fault_killat_SOURCES = tests/fault/killat.c tests/fault/trace.c tests/fault/trace.h
tests_fault_killat_LDADD =

# A process that lets nobody look at its memory map.
check_PROGRAMS += tests/fault/frozen
tests_fault_frozen_LDADD = -lpthread

# The table fault x moment on a real cluster, and what it needs; as root, after a build in ./build with its tests.
check_PROGRAMS += tests/fault/monitor
tests_fault_monitor_LDADD =
noinst_LTLIBRARIES += tests/fault/preload.la
tests_fault_preload_la_SOURCES = tests/fault/preload.c
tests_fault_preload_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
dist_noinst_SCRIPTS += tests/fault/calls tests/fault/run
EXTRA_DIST += tests/fault/check-table tests/fault/faults.sh tests/fault/moments.sh tests/fault/table
TESTS += tests/fault/check-table
