# SPDX-License-Identifier: GPL-2.0-or-later
# The preload library under real programs of gcc's and clang's OpenMP, one of them skipped where its run-time is not installed. It is the
# same in a build with sanitizers, where they would say nothing more.
if !SANITIZERS
TESTS += tests/runtime/check-library tests/runtime/test_gcc.sh tests/runtime/test_clang.sh \
	tests/runtime/test_tasks_gcc.sh tests/runtime/test_tasks_clang.sh tests/runtime/test_throttle_gcc.sh tests/runtime/test_throttle_clang.sh \
	tests/runtime/test_cohort.sh tests/runtime/test_locks.sh \
	tests/runtime/test_sync.sh tests/runtime/test_tbb.sh tests/runtime/test_yields.sh
endif
check_PROGRAMS += tests/runtime/board tests/runtime/page
tests_runtime_board_LDADD = libblackboard.la libmodels.la -lm
tests_runtime_page_LDADD =
EXTRA_tests_runtime_page_DEPENDENCIES = libberth_rt.la
EXTRA_DIST += tests/runtime/check-library tests/runtime/checks.sh tests/runtime/common.sh tests/runtime/test_gcc.sh tests/runtime/test_clang.sh \
	tests/runtime/test_throttle_gcc.sh tests/runtime/test_throttle_clang.sh tests/runtime/throttle.sh \
	tests/runtime/test_tasks_gcc.sh tests/runtime/test_tasks_clang.sh tests/runtime/tasks.sh tests/runtime/resting.c \
	tests/runtime/test_cohort.sh tests/runtime/test_locks.sh tests/runtime/cohort.c tests/runtime/locks.c \
	tests/runtime/calls.c tests/runtime/constructor.c tests/runtime/host.c tests/runtime/loops.c tests/runtime/own.c tests/runtime/regions.c \
	tests/runtime/nptl tests/runtime/reference.c tests/runtime/sync.c tests/runtime/tbb.cc tests/runtime/test_sync.sh tests/runtime/test_tbb.sh tests/runtime/test_yields.sh tests/runtime/yields.h
