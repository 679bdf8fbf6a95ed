# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/machine/profile.c packer/machine/profile.h \
	packer/machine/profile_file.c \
	packer/machine/profile_json.c \
	packer/machine/topo.c packer/machine/topo.h \
	packer/machine/type.c packer/machine/type.h
