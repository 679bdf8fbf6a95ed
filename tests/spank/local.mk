# SPDX-License-Identifier: GPL-2.0-or-later
# The built plugin, loaded by a fake Slurm (-export-dynamic: it finds spank_* in the test program).
TESTS += tests/spank/test_plugin tests/spank/check-symbols
check_PROGRAMS += tests/spank/test_plugin
dist_noinst_SCRIPTS += tests/spank/check-symbols
tests_spank_test_plugin_SOURCES = tests/spank/fake_berthd.c tests/spank/fake_berthd.h tests/spank/host.c \
	tests/spank/host.h tests/spank/test_plugin.c
tests_spank_test_plugin_LDFLAGS = -export-dynamic
tests_spank_test_plugin_LDADD = libwire.la $(CMOCKA_LIBS)
EXTRA_tests_spank_test_plugin_DEPENDENCIES = spank_berth.la
