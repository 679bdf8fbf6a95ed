# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/identity/asker.c packer/identity/asker.h \
	packer/identity/jobs.c packer/identity/jobs.h \
	packer/identity/said.c packer/identity/said.h
