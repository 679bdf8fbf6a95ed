# SPDX-License-Identifier: GPL-2.0-or-later
# 100 000 random events on simulated nodes; BERTH_SEED=N tests/property/test_node plays others.
TESTS += tests/property/test_node
check_PROGRAMS += tests/property/test_node
tests_property_test_node_SOURCES = \
	tests/property/sim.c tests/property/sim.h \
	tests/property/sim_check.c \
	tests/property/test_node.c \
	tests/unit/fixture.c tests/unit/fixture.h
tests_property_test_node_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_property_test_node_LDADD = libpacker.la $(CMOCKA_LIBS)

# 10 000 random intervals of the meters; BERTH_SEED=N tests/property/test_bill plays others.
TESTS += tests/property/test_bill
check_PROGRAMS += tests/property/test_bill
tests_property_test_bill_SOURCES = tests/property/test_bill.c \
	tests/unit/bill_box.c tests/unit/bill_box.h \
	tests/unit/fixture.c tests/unit/fixture.h tests/unit/noise.h
tests_property_test_bill_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_property_test_bill_LDADD = libpacker.la $(CMOCKA_LIBS) -lm
