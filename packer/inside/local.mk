# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/inside/adapt.c \
	packer/inside/burst.c packer/inside/burst.h \
	packer/inside/deal.c packer/inside/deal.h \
	packer/inside/deal_job.c packer/inside/deal_job.h \
	packer/inside/faithful.c \
	packer/inside/follow.c \
	packer/inside/frequency.c \
	packer/inside/inside_page.c \
	packer/inside/throttle.c \
	packer/inside/synchronise.c \
	packer/inside/inside.c packer/inside/inside.h \
	packer/inside/groups.c packer/inside/groups.h \
	packer/inside/policy.c packer/inside/policy.h \
	packer/inside/prefetch.c \
	packer/inside/core_registers.c packer/inside/core_registers.h \
	packer/inside/shuffle.c \
	packer/inside/slice.c \
	packer/inside/step_page.c packer/inside/step_page.h \
	packer/inside/step_said.c packer/inside/step_said.h \
	packer/inside/tranquil.c
