# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/energy/attribute.c models/energy/attribute.h \
	models/energy/edp.c models/energy/edp.h \
	models/energy/nnls.c models/energy/nnls.h \
	models/energy/power.c models/energy/power.h \
	models/energy/thermal.c models/energy/thermal.h
