# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/figures/figures.c packer/figures/figures.h \
	packer/figures/told.c
