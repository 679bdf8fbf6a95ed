# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/reuse/address_source.c packer/reuse/address_source.h \
	packer/reuse/opening.c packer/reuse/opening.h \
	packer/reuse/perf_ring.c packer/reuse/perf_ring.h \
	packer/reuse/sampler.c packer/reuse/sampler.h \
	packer/reuse/watchpoint.c packer/reuse/watchpoint.h
