# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/inside/adapt.c models/inside/adapt.h \
	models/inside/adapt_fit.c \
	models/inside/faithful.c models/inside/faithful.h \
	models/inside/prefetch.c models/inside/prefetch.h \
	models/inside/reinforce.c models/inside/reinforce.h \
	models/inside/reinforce_learn.c \
	models/inside/shuffle.c models/inside/shuffle.h \
	models/inside/tranquil.c models/inside/tranquil.h
