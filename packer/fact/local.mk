# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/fact/fact.c packer/fact/fact.h \
	packer/fact/facts.def
