# SPDX-License-Identifier: GPL-2.0-or-later
# The built plugin, loaded by a fake Slurm (-export-dynamic: it finds spank_* in the test program); and plugins of all series from 22.05
# to 26.05, each under the fake Slurm of its own series, and of another (test_series.sh).
TESTS += tests/spank/test_plugin tests/spank/check-symbols tests/spank/check-headers tests/spank/test_series.sh \
	tests/spank/test_choose_plugin.sh
check_PROGRAMS += tests/spank/test_plugin
dist_noinst_SCRIPTS += tests/spank/check-symbols tests/spank/check-headers tests/spank/series-plugin
tests_spank_test_plugin_SOURCES = tests/spank/fake_berthd.c tests/spank/fake_berthd.h tests/spank/host.c \
	tests/spank/host.h tests/spank/test_plugin.c
tests_spank_test_plugin_LDFLAGS = -export-dynamic
tests_spank_test_plugin_LDADD = libwire.la $(CMOCKA_LIBS)
EXTRA_tests_spank_test_plugin_DEPENDENCIES = spank_berth.la libberth_rt.la
EXTRA_DIST += tests/spank/interface.c tests/spank/series tests/spank/test_series.sh tests/spank/test_choose_plugin.sh

# What the scripts here compile with.
check_DATA = tests/spank/flags
CLEANFILES += tests/spank/flags
tests/spank/flags: Makefile
	$(AM_V_GEN)$(MKDIR_P) tests/spank && { \
	echo 'CC="$(CC)"'; \
	echo 'FLAGS="$(BERTH_CFLAGS) $(CFLAGS) $(CPPFLAGS) -D_GNU_SOURCE -I$(top_srcdir) $(JSONC_CFLAGS) $(XXHASH_CFLAGS) $(CMOCKA_CFLAGS)"'; \
	echo 'SLURM_CFLAGS="$(SLURM_CFLAGS)" RUNSTATEDIR="$(runstatedir)"'; \
	echo 'LIBS="$(LDFLAGS) $(JSONC_LIBS) $(XXHASH_LIBS) -ldl" CMOCKA_LIBS="$(CMOCKA_LIBS)"'; \
	echo 'PLUGIN="$(filter %.c,$(spank_berth_la_SOURCES))" HOST="$(filter %.c,$(tests_spank_test_plugin_SOURCES))"'; } >$@.tmp && mv $@.tmp $@
