# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/machine/adapt.c packer/machine/adapt.h \
	packer/machine/bandwidth.c packer/machine/bandwidth.h \
	packer/machine/device.c packer/machine/device.h \
	packer/machine/devices.c packer/machine/devices.h \
	packer/machine/devices_tree.c \
	packer/machine/devices_xml.c \
	packer/machine/dmi.c packer/machine/dmi.h \
	packer/machine/dram.c packer/machine/dram.h \
	packer/machine/edac.c packer/machine/edac.h \
	packer/machine/processor.c packer/machine/processor.h \
	packer/machine/profile.c packer/machine/profile.h \
	packer/machine/profile_file.c \
	packer/machine/profile_json.c \
	packer/machine/spd.c packer/machine/spd.h \
	packer/machine/topo.c packer/machine/topo.h \
	packer/machine/topo_kinds.c packer/machine/topo_kinds.h \
	packer/machine/topo_load.c packer/machine/topo_load.h \
	packer/machine/type.c packer/machine/type.h
