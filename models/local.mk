# SPDX-License-Identifier: GPL-2.0-or-later
# The papers as pure functions.
noinst_LTLIBRARIES += libmodels.la
libmodels_la_SOURCES = \
	models/di.c models/di.h
