# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/energy/energy.c packer/energy/energy.h \
	packer/energy/hwmon.c \
	packer/energy/model.c \
	packer/energy/parts.c packer/energy/parts.h \
	packer/energy/perf.c \
	packer/energy/powercap.c \
	packer/energy/sampler.c packer/energy/sampler.h \
	packer/energy/temperatures.c packer/energy/temperatures.h
