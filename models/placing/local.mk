# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/placing/cluster.c models/placing/cluster.h \
	models/placing/cosit.c models/placing/cosit.h \
	models/placing/di.c models/placing/di.h \
	models/placing/di_tree.c models/placing/di_tree.h \
	models/placing/dio_power.c models/placing/dio_power.h \
	models/placing/improve.c models/placing/improve.h \
	models/placing/improve_guess.c models/placing/improve_guess.h \
	models/placing/improve_offers.c models/placing/improve_offers.h \
	models/placing/isolate.c models/placing/isolate.h \
	models/placing/steer.c models/placing/steer.h
