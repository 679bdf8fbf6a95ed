# SPDX-License-Identifier: GPL-2.0-or-later
# Guests under emulation, by commands of their own, not part of `make check`: tests/vm/run is a suite on machines with several
# packages (part of tests/nightly), tests/vm/pmu counts hardware events for real,
# tests/vm/aarch64 reads the blackboard on another processor.
dist_noinst_SCRIPTS += tests/vm/aarch64 tests/vm/guest tests/vm/image tests/vm/pmu tests/vm/run
check_PROGRAMS += tests/vm/restless
tests_vm_restless_LDADD =
EXTRA_DIST += tests/vm/architectures tests/vm/many.conf tests/vm/pmu_guest.c tests/vm/suite

# What the suite runs in a guest of two NUMA nodes.
check_PROGRAMS += tests/vm/locks tests/vm/movemem tests/vm/product
tests_vm_locks_SOURCES = tests/runtime/locks.c
tests_vm_locks_LDADD = -lpthread
tests_vm_movemem_LDADD = $(PACKER_LIBS)
tests_vm_product_LDADD = libtasks.la -lm -lpthread
