# SPDX-License-Identifier: GPL-2.0-or-later

TESTS += tests/unit/test_conf
check_PROGRAMS += tests/unit/test_conf
tests_unit_test_conf_SOURCES = tests/unit/test_conf.c
tests_unit_test_conf_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_conf_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_log
check_PROGRAMS += tests/unit/test_log
tests_unit_test_log_SOURCES = tests/unit/test_log.c
tests_unit_test_log_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_log_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_options
check_PROGRAMS += tests/unit/test_options
tests_unit_test_options_SOURCES = tests/unit/test_options.c plugin/options.c plugin/options.h
tests_unit_test_options_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_options_LDADD = libwire.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_berthctl.sh
EXTRA_DIST += tests/unit/test_berthctl.sh
check_PROGRAMS += tests/unit/fake_berthd
tests_unit_fake_berthd_SOURCES = tests/unit/fake_berthd.c

TESTS += tests/unit/test_pool
check_PROGRAMS += tests/unit/test_pool
tests_unit_test_pool_SOURCES = tests/unit/test_pool.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_pool_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pool_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_place
check_PROGRAMS += tests/unit/test_place
tests_unit_test_place_SOURCES = tests/unit/test_place.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_place_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_place_LDADD = libpacker.la $(CMOCKA_LIBS)
