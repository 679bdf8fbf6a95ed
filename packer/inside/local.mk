# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/inside/adapt.c \
	packer/inside/burst.c packer/inside/burst.h \
	packer/inside/deal.c \
	packer/inside/faithful.c \
	packer/inside/inside.c packer/inside/inside.h \
	packer/inside/groups.c packer/inside/groups.h \
	packer/inside/policy.h \
	packer/inside/shuffle.c \
	packer/inside/slice.c \
	packer/inside/tranquil.c
