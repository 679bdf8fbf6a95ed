# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/settle/figures.c packer/settle/figures.h \
	packer/settle/list.c packer/settle/list.h \
	packer/settle/settler.c packer/settle/settler.h
