# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/numa/ascent.c models/numa/ascent.h \
	models/numa/climb.c models/numa/climb.h \
	models/numa/climb_rank.c \
	models/numa/climb_start.c \
	models/numa/dramon.c models/numa/dramon.h \
	models/numa/dual.c models/numa/dual.h \
	models/numa/flexthread.c models/numa/flexthread.h \
	models/numa/flows.c models/numa/flows.h \
	models/numa/flows_lp.c models/numa/flows_lp.h \
	models/numa/margins.c models/numa/margins.h \
	models/numa/nucore.c models/numa/nucore.h \
	models/numa/nucore_check.c \
	models/numa/numem.c models/numa/numem.h \
	models/numa/numem_check.c \
	models/numa/numem_constraint.c models/numa/numem_constraint.h \
	models/numa/relax.c models/numa/relax.h \
	models/numa/roof.c models/numa/roof.h
