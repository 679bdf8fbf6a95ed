# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/interference/child.c packer/interference/child.h \
	packer/interference/estimate.c packer/interference/estimate.h \
	packer/interference/probe.c packer/interference/probe.h
