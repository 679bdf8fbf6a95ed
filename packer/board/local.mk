# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/board/board.c packer/board/board.h \
	packer/board/imc.c packer/board/imc.h \
	packer/board/map.c packer/board/map.h \
	packer/board/mbm.c packer/board/mbm.h \
	packer/board/told.c packer/board/told.h
