# SPDX-License-Identifier: GPL-2.0-or-later
libwire_la_SOURCES += \
	packer/base/array.c packer/base/array.h \
	packer/base/clock.c packer/base/clock.h \
	packer/base/cpus.c packer/base/cpus.h \
	packer/base/error.c packer/base/error.h \
	packer/base/file.c packer/base/file.h \
	packer/base/json.c packer/base/json.h \
	packer/base/json_asked.c packer/base/json_asked.h \
	packer/base/json_fields.c packer/base/json_fields.h \
	packer/base/nearest.c packer/base/nearest.h \
	packer/base/path_owner.c packer/base/path_owner.h \
	packer/base/text.c packer/base/text.h
libpacker_la_SOURCES += \
	packer/base/hands.c packer/base/hands.h \
	packer/base/ini_file.c packer/base/ini_file.h \
	packer/base/library.c packer/base/library.h \
	packer/base/log.c packer/base/log.h \
	packer/base/siphash.c packer/base/siphash.h \
	packer/base/worker.c packer/base/worker.h
