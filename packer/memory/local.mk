# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/memory/mover.c packer/memory/mover.h \
	packer/memory/origin.c packer/memory/origin.h \
	packer/memory/pages.c packer/memory/pages.h \
	packer/memory/ranges.c packer/memory/ranges.h \
	packer/memory/room.c packer/memory/room.h
