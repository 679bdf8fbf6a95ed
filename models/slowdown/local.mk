# SPDX-License-Identifier: GPL-2.0-or-later
libmodels_la_SOURCES += \
	models/slowdown/animal.c models/slowdown/animal.h \
	models/slowdown/app.h \
	models/slowdown/clock.c models/slowdown/clock.h \
	models/slowdown/contend.c models/slowdown/contend.h \
	models/slowdown/contend_share.c models/slowdown/contend_stands.h models/slowdown/contend_way.c \
	models/slowdown/contend_study.c models/slowdown/contend_study.h \
	models/slowdown/evidence.c models/slowdown/evidence.h \
	models/slowdown/evidence_cells.c models/slowdown/evidence_cells.h \
	models/slowdown/evidence_common.c models/slowdown/evidence_common.h \
	models/slowdown/evidence_fit.c models/slowdown/evidence_fit.h models/slowdown/evidence_solve.c \
	models/slowdown/loss.c models/slowdown/loss.h \
	models/slowdown/missrate.c models/slowdown/missrate.h \
	models/slowdown/null_test.c models/slowdown/null_test.h \
	models/slowdown/parts.c models/slowdown/parts.h \
	models/slowdown/pain.c models/slowdown/pain.h \
	models/slowdown/sdc.c models/slowdown/sdc.h
