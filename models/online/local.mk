# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/online/dio.c models/online/dio.h \
	models/online/opticore.c models/online/opticore.h \
	models/online/page_move.c models/online/page_move.h \
	models/online/phase.c models/online/phase.h \
	models/online/rate.c models/online/rate.h \
	models/online/statstack.c models/online/statstack.h \
	models/online/verdict.c models/online/verdict.h
