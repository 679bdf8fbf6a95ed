# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/metrics/caches.c \
	packer/metrics/families.c \
	packer/metrics/http.c packer/metrics/http.h \
	packer/metrics/listen.c packer/metrics/listen.h \
	packer/metrics/node.c packer/metrics/node.h \
	packer/metrics/steps.c \
	packer/metrics/text.c packer/metrics/text.h \
	packer/metrics/textfile.c packer/metrics/textfile.h
