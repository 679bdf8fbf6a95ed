# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/numa/allot.c models/numa/allot.h \
	models/numa/allot_alike.c \
	models/numa/allot_box.c \
	models/numa/allot_chain.c \
	models/numa/allot_impl.h \
	models/numa/allot_rank.c \
	models/numa/allot_scan.c \
	models/numa/allot_settle.c \
	models/numa/allot_try.c \
	models/numa/dramon.c models/numa/dramon.h \
	models/numa/flexthread.c models/numa/flexthread.h \
	models/numa/flows.c models/numa/flows.h \
	models/numa/flows_lp.c models/numa/flows_lp.h \
	models/numa/nucore.c models/numa/nucore.h \
	models/numa/nucore_check.c \
	models/numa/nucore_part.c models/numa/nucore_part.h \
	models/numa/numem.c models/numa/numem.h \
	models/numa/numem_check.c \
	models/numa/numem_constraint.c models/numa/numem_constraint.h \
	models/numa/relax.c models/numa/relax.h \
	models/numa/relax_flow.c \
	models/numa/relax_hull.c \
	models/numa/relax_impl.h \
	models/numa/relax_price.c \
	models/numa/relax_rounding.c \
	models/numa/roof.c models/numa/roof.h \
	models/numa/simplex.c models/numa/simplex.h \
	models/numa/usage.c models/numa/usage.h
