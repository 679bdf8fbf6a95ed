# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/profiles/binding.c \
	packer/profiles/db.c packer/profiles/db.h \
	packer/profiles/demand.c \
	packer/profiles/forget.c \
	packer/profiles/key.c \
	packer/profiles/median.c \
	packer/profiles/page.c \
	packer/profiles/pair.c \
	packer/profiles/pair_forget.c \
	packer/profiles/pair_json.c \
	packer/profiles/profiles.c packer/profiles/profiles.h \
	packer/profiles/sample.c \
	packer/profiles/text.c \
	packer/profiles/threads.c
