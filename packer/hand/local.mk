# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/hand/ask.c packer/hand/ask.h \
	packer/hand/belongs.c \
	packer/hand/door.c packer/hand/door.h \
	packer/hand/file.c \
	packer/hand/hand.c packer/hand/hand.h packer/hand/hand_impl.h \
	packer/hand/known.c \
	packer/hand/list.c \
	packer/hand/message.h \
	packer/hand/move.c \
	packer/hand/pages.c \
	packer/hand/pass.c packer/hand/pass.h \
	packer/hand/place.c \
	packer/hand/refuse.c \
	packer/hand/threads.c \
	packer/hand/usage.c

pkglibexec_PROGRAMS += berth-hand
berth_hand_SOURCES = packer/hand/berth_hand.c
berth_hand_LDADD = libpacker.la libwire.la
berth_hand_LDFLAGS = -Wl,--as-needed
