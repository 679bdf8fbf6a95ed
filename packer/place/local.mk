# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/place/bound.c packer/place/bound.h \
	packer/place/culprits.c packer/place/culprits.h \
	packer/place/forecast.c packer/place/forecast.h \
	packer/place/forecast_ask.c \
	packer/place/forecast_impl.h \
	packer/place/forecast_work.c \
	packer/place/gain.c packer/place/gain.h \
	packer/place/isolation.c packer/place/isolation.h \
	packer/place/keep.c packer/place/keep.h \
	packer/place/ladder.c packer/place/ladder.h \
	packer/place/near.c packer/place/near.h \
	packer/place/near_settle.c \
	packer/place/opinion.c packer/place/opinion.h \
	packer/place/pair_table.c packer/place/pair_table.h \
	packer/place/solved.c packer/place/solved.h \
	packer/place/place.c packer/place/place.h \
	packer/place/policy.c packer/place/policy.h \
	packer/place/price.c packer/place/price.h \
	packer/place/reason.c packer/place/reason.h \
	packer/place/search.c packer/place/search.h \
	packer/place/search_even.c \
	packer/place/search_impl.h \
	packer/place/search_lost.c \
	packer/place/search_parts.c \
	packer/place/siblings.c packer/place/siblings.h \
	packer/place/threads.c packer/place/threads.h \
	packer/place/units.c packer/place/units.h
