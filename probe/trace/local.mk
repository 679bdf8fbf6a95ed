# SPDX-License-Identifier: GPL-2.0-or-later
libprobe_la_SOURCES += \
	probe/trace/area.h \
	probe/trace/cachesim.c probe/trace/cachesim.h \
	probe/trace/cachesim_setup.c \
	probe/trace/dramsim.c probe/trace/dramsim.h \
	probe/trace/tool.c probe/trace/tool.h \
	probe/trace/tracer.c probe/trace/tracer.h
include probe/trace/tool/local.mk
