# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/tasks/chance.h \
	models/tasks/cohort.c models/tasks/cohort.h \
	models/tasks/locality.c models/tasks/locality.h \
	models/tasks/saturation.c models/tasks/saturation.h \
	models/tasks/steal.c models/tasks/steal.h models/tasks/steal_run.h \
	models/tasks/steal_look.c models/tasks/steal_state.c \
	models/tasks/threshold.c models/tasks/threshold.h \
	models/tasks/throttle.c models/tasks/throttle.h \
	models/tasks/throttle_run.c models/tasks/throttle_run.h
