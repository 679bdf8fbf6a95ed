# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/machine/profile.c packer/machine/profile.h \
	packer/machine/profile_fields.h \
	packer/machine/profile_read.c \
	packer/machine/profile_write.c \
	packer/machine/topo.c packer/machine/topo.h \
	packer/machine/type.c packer/machine/type.h
