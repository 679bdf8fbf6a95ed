# SPDX-License-Identifier: GPL-2.0-or-later
# The SPANK plugin: exports slurm_spank_* and plugin_*, nothing else.
pkglib_LTLIBRARIES += spank_berth.la
spank_berth_la_SOURCES = \
	plugin/apply.c plugin/apply.h \
	plugin/client.c plugin/client.h \
	plugin/dispatch.c \
	plugin/job_items.c plugin/job_items.h \
	plugin/options.c plugin/options.h \
	plugin/program.c plugin/program.h \
	plugin/step.c plugin/step.h
spank_berth_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
spank_berth_la_LDFLAGS = -module -avoid-version -shared -Wl,--version-script=$(srcdir)/plugin/exports.map
spank_berth_la_LIBADD = libwire.la
spank_berth_la_DEPENDENCIES = libwire.la $(srcdir)/plugin/exports.map
EXTRA_DIST += plugin/exports.map
