# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/bill/bill.c packer/bill/bill.h \
	packer/bill/divide.c \
	packer/bill/interval.c \
	packer/bill/node_power.c packer/bill/node_power.h \
	packer/bill/parts.h \
	packer/bill/state.c \
	packer/bill/stop.c
