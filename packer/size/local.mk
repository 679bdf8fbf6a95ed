# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/size/cores.c packer/size/cores.h \
	packer/size/demand.c packer/size/demand.h \
	packer/size/model.c packer/size/model.h \
	packer/size/phases.c packer/size/phases.h \
	packer/size/share.c packer/size/share.h \
	packer/size/size.c packer/size/size.h \
	packer/size/traffic.c packer/size/traffic.h
