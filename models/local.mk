# SPDX-License-Identifier: GPL-2.0-or-later
# The papers as pure functions.
noinst_LTLIBRARIES += libmodels.la
libmodels_la_SOURCES = \
	models/allot.c models/allot.h models/allot_impl.h \
	models/allot_box.c \
	models/allot_count.c \
	models/allot_scan.c \
	models/allot_settle.c \
	models/allot_try.c \
	models/animal.c models/animal.h \
	models/app.h \
	models/attribute.c models/attribute.h \
	models/auction.c models/auction.h \
	models/blossom.c models/blossom.h \
	models/bound.c models/bound.h \
	models/cluster.c models/cluster.h \
	models/contend.c models/contend.h \
	models/contend_study.c models/contend_study.h \
	models/di.c models/di.h \
	models/di_tree.c models/di_tree.h \
	models/dio.c models/dio.h \
	models/dio_power.c models/dio_power.h \
	models/dramon.c models/dramon.h \
	models/edp.c models/edp.h \
	models/exchange.c models/exchange.h \
	models/flexthread.c models/flexthread.h \
	models/flows.c models/flows.h \
	models/flows_cap.c \
	models/flows_lp.c models/flows_lp.h \
	models/hull.c \
	models/isolate.c models/isolate.h \
	models/matching.c models/matching.h \
	models/missrate.c models/missrate.h \
	models/nnls.c models/nnls.h \
	models/nucore.c models/nucore.h \
	models/nucore_check.c \
	models/nucore_part.c models/nucore_part.h \
	models/numem.c models/numem.h \
	models/numem_check.c \
	models/numem_constraint.c models/numem_constraint.h \
	models/page_move.c models/page_move.h \
	models/pain.c models/pain.h \
	models/partition.c models/partition.h \
	models/partition_pairs.c \
	models/phase.c models/phase.h \
	models/power.c models/power.h \
	models/price.c \
	models/rate.c models/rate.h \
	models/relax.c models/relax.h models/relax_impl.h \
	models/relax_facet.c \
	models/relax_flow.c \
	models/relax_impl.c \
	models/rounding.c \
	models/sdc.c models/sdc.h \
	models/simplex.c models/simplex.h \
	models/statstack.c models/statstack.h \
	models/subsets.c models/subsets.h \
	models/usage.c models/usage.h
libmodels_la_CPPFLAGS = $(AM_CPPFLAGS) $(GLPK_CFLAGS)
libmodels_la_LIBADD = $(GLPK_LIBS) -lm
