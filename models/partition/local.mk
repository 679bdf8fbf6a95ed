# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/partition/auction.c models/partition/auction.h \
	models/partition/blossom.c models/partition/blossom.h \
	models/partition/bound.c models/partition/bound.h \
	models/partition/costs.c models/partition/costs.h \
	models/partition/exact.c models/partition/exact.h \
	models/partition/matching.c models/partition/matching.h \
	models/partition/partition.c models/partition/partition.h \
	models/partition/search.c models/partition/search.h
