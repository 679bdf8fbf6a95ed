# SPDX-License-Identifier: GPL-2.0-or-later
# The blackboard: a library for programs that read it, and the same with the writer for berth's own.
noinst_LTLIBRARIES += libblackboard.la
libblackboard_la_SOURCES = \
	blackboard/berth_blackboard.h blackboard/layout.h \
	blackboard/reader.c \
	blackboard/writer.c blackboard/writer.h

lib_LTLIBRARIES += libberth_blackboard.la
libberth_blackboard_la_SOURCES = blackboard/berth_blackboard.h blackboard/layout.h blackboard/reader.c
libberth_blackboard_la_LDFLAGS = -version-info 0:0:0 -Wl,--version-script=$(srcdir)/blackboard/exports.map
libberth_blackboard_la_DEPENDENCIES = $(srcdir)/blackboard/exports.map
include_HEADERS = blackboard/berth_blackboard.h
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = blackboard/berth-blackboard.pc
EXTRA_DIST += blackboard/exports.map blackboard/berth-blackboard.pc.in
CLEANFILES += blackboard/berth-blackboard.pc
