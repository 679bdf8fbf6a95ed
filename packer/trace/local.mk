# SPDX-License-Identifier: GPL-2.0-or-later
libctl_la_SOURCES += \
	packer/trace/area.h \
	packer/trace/cachesim.c packer/trace/cachesim.h \
	packer/trace/cachesim_setup.c \
	packer/trace/tool.c packer/trace/tool.h \
	packer/trace/tracer.c packer/trace/tracer.h
include packer/trace/tool/local.mk
