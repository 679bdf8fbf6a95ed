# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/observe/beside.c packer/observe/beside.h \
	packer/observe/classify.c packer/observe/classify.h \
	packer/observe/figures.c packer/observe/figures.h \
	packer/observe/known_pairs.c packer/observe/known_pairs.h \
	packer/observe/learn.c packer/observe/learn.h \
	packer/observe/orders.c packer/observe/orders.h \
	packer/observe/probe.c packer/observe/probe.h \
	packer/observe/ranks.c packer/observe/ranks.h \
	packer/observe/ranks_look.c packer/observe/ranks_look.h \
	packer/observe/reuse.c packer/observe/reuse.h \
	packer/observe/seek.c packer/observe/seek.h \
	packer/observe/slowdown.c packer/observe/slowdown.h \
	packer/observe/spell.c packer/observe/spell.h \
	packer/observe/usage.c packer/observe/usage.h \
	packer/observe/usage_folder.c packer/observe/usage_folder.h \
	packer/observe/window.c packer/observe/window.h
