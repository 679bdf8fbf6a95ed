# SPDX-License-Identifier: GPL-2.0-or-later
# libwire: what the plugin links too. libpacker: all other rooms of the daemon.
# tests/check-layers says which room may use which.
noinst_LTLIBRARIES += libwire.la libpacker.la
libwire_la_SOURCES =
libwire_la_LIBADD = $(JSONC_LIBS) $(XXHASH_LIBS)
libpacker_la_SOURCES =
libpacker_la_LIBADD = $(HWLOC_LIBS) $(EVENT_EXTRA_LIBS) $(EVENT_LIBS) $(INIH_LIBS) $(SQLITE_LIBS) \
	$(NUMA_LIBS) -ldl -lpthread -lm
PACKER_LIBS = libpacker.la libmodels.la libwire.la libblackboard.la

include packer/base/local.mk
include packer/fact/local.mk
include packer/wire/local.mk
include packer/system/local.mk
include packer/conf/local.mk
include packer/slurm/local.mk
include packer/machine/local.mk
include packer/hand/local.mk
include packer/enforce/local.mk
include packer/memory/local.mk
include packer/sql/local.mk
include packer/profiles/local.mk
include packer/counters/local.mk
include packer/interference/local.mk
include packer/reuse/local.mk
include packer/energy/local.mk
include packer/ledger/local.mk
include packer/report/local.mk
include packer/settle/local.mk
include packer/identity/local.mk
include packer/slurm/libslurm/local.mk
include packer/steps/local.mk
include packer/slurm/steps/local.mk
include packer/observe/local.mk
include packer/bill/local.mk
include packer/board/local.mk
include packer/size/local.mk
include packer/place/local.mk
include packer/enact/local.mk
include packer/inside/local.mk
include packer/figures/local.mk
include packer/metrics/local.mk
include packer/serve/local.mk
include packer/daemon/local.mk
include packer/cli/local.mk
