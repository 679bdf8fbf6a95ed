# SPDX-License-Identifier: GPL-2.0-or-later
# The SPANK plugin: exports slurm_spank_* and plugin_*, nothing else. It is installed under the name of the Slurm series it
# was built for, beside those of other series; spank_berth.so, which plugstack.conf names, is a link to one of them.
noinst_LTLIBRARIES += spank_berth.la
spank_berth_la_SOURCES = \
	plugin/apply.c plugin/apply.h \
	plugin/bind.c plugin/bind.h \
	plugin/client.c plugin/client.h \
	plugin/devices.c plugin/devices.h \
	plugin/dispatch.c \
	plugin/evict.c plugin/evict.h \
	plugin/job_items.c plugin/job_items.h \
	plugin/note.c plugin/note.h \
	plugin/options.c plugin/options.h \
	plugin/pin.c plugin/pin.h plugin/pin_impl.h plugin/pin_program.c plugin/pin_python.c plugin/pin_script.c \
	plugin/preload.c plugin/preload.h \
	plugin/program.c plugin/program.h \
	plugin/step.c plugin/step.h
spank_berth_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
# A path for rpath makes libtool link a module out of what is not installed by it.
spank_berth_la_LDFLAGS = -module -avoid-version -shared -rpath $(pkglibdir) -Wl,--version-script=$(srcdir)/plugin/exports.map
spank_berth_la_LIBADD = libwire.la -ldl
spank_berth_la_DEPENDENCIES = libwire.la $(srcdir)/plugin/exports.map
EXTRA_DIST += plugin/exports.map plugin/choose-plugin.in

pkglibexec_SCRIPTS += plugin/choose-plugin
CLEANFILES += plugin/choose-plugin

plugin/choose-plugin: plugin/choose-plugin.in Makefile
	$(AM_V_GEN)$(MKDIR_P) plugin && sed 's|@pkglibdir[@]|$(pkglibdir)|' $(srcdir)/plugin/choose-plugin.in >$@.tmp && \
	chmod 755 $@.tmp && mv $@.tmp $@

# The plugin alone, for a package of another series: `make plugin install-plugin`.
.PHONY: plugin install-plugin uninstall-plugin
plugin: spank_berth.la plugin/choose-plugin

plugin_file = spank_berth-$(SLURM_SERIES).so

# The file gets its name when it is whole: a slurmstepd that has the old one mapped keeps it.
install-plugin: plugin
	$(MKDIR_P) "$(DESTDIR)$(pkglibdir)"
	$(INSTALL_PROGRAM) .libs/spank_berth.so "$(DESTDIR)$(pkglibdir)/.$(plugin_file)"
	mv -f "$(DESTDIR)$(pkglibdir)/.$(plugin_file)" "$(DESTDIR)$(pkglibdir)/$(plugin_file)"
	sh plugin/choose-plugin --folder "$(DESTDIR)$(pkglibdir)" --series $(SLURM_SERIES)

install-exec-local: install-plugin

uninstall-plugin: plugin/choose-plugin
	sh plugin/choose-plugin --folder "$(DESTDIR)$(pkglibdir)" --remove $(SLURM_SERIES)
	rm -f "$(DESTDIR)$(pkglibdir)/$(plugin_file)"

uninstall-local: uninstall-plugin
