# SPDX-License-Identifier: GPL-2.0-or-later
# Guests under emulation, by commands of their own, not part of `make check`: tests/vm/run is a suite on machines with several
# packages (part of tests/nightly), tests/vm/pmu counts hardware events for real,
# tests/vm/aarch64 reads the blackboard on another processor.
dist_noinst_SCRIPTS += tests/vm/aarch64 tests/vm/guest tests/vm/image tests/vm/pmu tests/vm/run
check_PROGRAMS += tests/vm/restless
tests_vm_restless_LDADD =
EXTRA_DIST += tests/vm/many.conf tests/vm/pmu_guest.c tests/vm/suite/suite.sh tests/vm/suite/t10-machine.sh tests/vm/suite/t20-placing.sh \
	tests/vm/suite/t25-policies.sh tests/vm/suite/t26-devices.sh tests/vm/suite/t27-ranks.sh tests/vm/suite/t30-moving.sh tests/vm/suite/t35-bindings.sh tests/vm/suite/t40-unconfined.sh tests/vm/suite/t45-frozen.sh tests/vm/suite/t50-memory.sh tests/vm/suite/t52-tranquil.sh \
	tests/vm/suite/t53-shuffle.sh tests/vm/suite/t54-objects.sh tests/vm/suite/t55-loop.sh tests/vm/suite/t56-synchronise.sh tests/vm/suite/t60-seeing.sh tests/vm/suite/t65-idle.sh

# What the suite runs in a guest of two NUMA nodes.
check_PROGRAMS += tests/vm/locks tests/vm/movemem tests/vm/product
tests_vm_locks_SOURCES = tests/runtime/locks.c
tests_vm_locks_LDADD = -lpthread
tests_vm_movemem_LDADD = $(PACKER_LIBS)
tests_vm_product_LDADD = libtasks.la -lm -lpthread
