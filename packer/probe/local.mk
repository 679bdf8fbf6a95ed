# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/probe/child.c packer/probe/child.h \
	packer/probe/estimate.c packer/probe/estimate.h \
	packer/probe/probe.c packer/probe/probe.h
