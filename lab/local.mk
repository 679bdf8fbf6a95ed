# SPDX-License-Identifier: GPL-2.0-or-later
# liblab: what plays with models and machines, and touches no running step: berthctl's verbs model and plan, which are the
# program berth-lab.
noinst_LTLIBRARIES += liblab.la
liblab_la_LIBADD = $(GLPK_LIBS)
liblab_la_SOURCES =
# plan
liblab_la_SOURCES += \
	lab/plan/apps.c lab/plan/apps.h \
	lab/plan/matrix.c lab/plan/matrix.h \
	lab/plan/observed.c lab/plan/observed.h \
	lab/plan/pairs.c lab/plan/pairs.h \
	lab/plan/plan.c lab/plan/plan.h \
	lab/plan/policy.c \
	lab/plan/predict.c lab/plan/predict.h \
	lab/plan/print.c \
	lab/plan/read.c \
	lab/plan/samples.c \
	lab/plan/siblings.c lab/plan/siblings.h \
	lab/plan/stored.c lab/plan/stored.h
# model
liblab_la_SOURCES += \
	lab/model/adapt.c \
	lab/model/cohort.c \
	lab/model/contend.c \
	lab/model/di.c \
	lab/model/dramon.c \
	lab/model/edp.c \
	lab/model/faithful.c \
	lab/model/flexthread.c \
	lab/model/locality.c \
	lab/model/matching.c \
	lab/model/model.c \
	lab/model/models.h \
	lab/model/nucore.c lab/model/nucore_proof.h \
	lab/model/numa.c lab/model/numa.h \
	lab/model/pairs.c \
	lab/model/reinforce.c \
	lab/model/prefetch.c \
	lab/model/shuffle.c \
	lab/model/steal.c \
	lab/model/thermal.c \
	lab/model/opticore.c \
	lab/model/throttle.c \
	lab/model/tranquil.c
if GLPK
liblab_la_SOURCES += lab/model/nucore_proof.c
else
liblab_la_SOURCES += lab/model/nucore_noproof.c
endif

pkglibexec_PROGRAMS += berth-lab
berth_lab_SOURCES = lab/berth_lab.c
berth_lab_LDADD = liblab.la libctl.la $(PACKER_LIBS)
