# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/hand/ask.c packer/hand/ask.h \
	packer/hand/belongs.c \
	packer/hand/hand.c packer/hand/hand.h packer/hand/hand_impl.h \
	packer/hand/known.c \
	packer/hand/list.c \
	packer/hand/message.h \
	packer/hand/move.c \
	packer/hand/place.c \
	packer/hand/refuse.c \
	packer/hand/threads.c
