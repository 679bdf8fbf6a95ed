# SPDX-License-Identifier: GPL-2.0-or-later
# The papers as pure functions, a folder a subject.
noinst_LTLIBRARIES += libmodels.la
libmodels_la_SOURCES =
libmodels_la_LIBADD = -lm

include models/energy/local.mk
include models/inside/local.mk
include models/online/local.mk
include models/partition/local.mk
include models/slowdown/local.mk
include models/tasks/local.mk
include models/placing/local.mk
include models/numa/local.mk
