# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/serve/budget.c packer/serve/budget.h \
	packer/serve/client.c packer/serve/client.h \
	packer/serve/listen.c packer/serve/listen.h \
	packer/serve/reply.c packer/serve/reply.h \
	packer/serve/rounds.c packer/serve/rounds.h \
	packer/serve/server.c packer/serve/server.h
