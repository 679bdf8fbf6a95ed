# SPDX-License-Identifier: GPL-2.0-or-later
# Random events on simulated nodes; BERTH_SEED=N tests/property/test_node plays others.
TESTS += tests/property/test_node
check_PROGRAMS += tests/property/test_node
tests_property_test_node_SOURCES = tests/property/sim.c tests/property/sim.h tests/property/sim_check.c \
	tests/property/test_node.c

# 10 000 random intervals of the meters; BERTH_SEED=N tests/property/test_bill plays others.
TESTS += tests/property/test_bill
check_PROGRAMS += tests/property/test_bill
