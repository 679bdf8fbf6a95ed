# SPDX-License-Identifier: GPL-2.0-or-later
# The papers as pure functions.
noinst_LTLIBRARIES += libmodels.la
libmodels_la_SOURCES = \
	models/animal.c models/animal.h \
	models/app.h \
	models/auction.c models/auction.h \
	models/blossom.c models/blossom.h \
	models/bound.c models/bound.h \
	models/contend.c models/contend.h \
	models/contend_study.c models/contend_study.h \
	models/di.c models/di.h \
	models/dio_power.c models/dio_power.h \
	models/dramon.c models/dramon.h \
	models/edp.c models/edp.h \
	models/exchange.c models/exchange.h \
	models/flexthread.c models/flexthread.h \
	models/isolate.c models/isolate.h \
	models/matching.c models/matching.h \
	models/missrate.c models/missrate.h \
	models/pain.c models/pain.h \
	models/partition.c models/partition.h \
	models/sdc.c models/sdc.h \
	models/subsets.c models/subsets.h \
	models/walk.c models/walk.h
libmodels_la_LIBADD = -lm
