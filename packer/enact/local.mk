# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/enact/arrange.c \
	packer/enact/as_if.c packer/enact/as_if.h \
	packer/enact/binders.c packer/enact/binders.h \
	packer/enact/bindings.c packer/enact/bindings.h packer/enact/bindings_impl.h \
	packer/enact/care.c packer/enact/care.h \
	packer/enact/enact.c packer/enact/enact.h \
	packer/enact/exchange.c packer/enact/exchange.h \
	packer/enact/folders.c packer/enact/folders.h \
	packer/enact/idle.c packer/enact/idle.h \
	packer/enact/kept.c packer/enact/kept.h \
	packer/enact/memory_follow.c packer/enact/memory_follow.h \
	packer/enact/offline.c packer/enact/offline.h \
	packer/enact/propose.c packer/enact/propose.h \
	packer/enact/ranks_care.c packer/enact/ranks_care.h \
	packer/enact/rearrange.c packer/enact/rearrange.h \
	packer/enact/regret.c packer/enact/regret.h \
	packer/enact/release.c packer/enact/release.h \
	packer/enact/replace.c packer/enact/replace.h \
	packer/enact/thermal.c packer/enact/thermal.h \
	packer/enact/trial.c packer/enact/trial.h \
	packer/enact/weigh.c packer/enact/weigh.h
