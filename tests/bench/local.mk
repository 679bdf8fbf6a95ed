# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks print figures and judge nothing.
noinst_PROGRAMS += tests/bench/register
tests_bench_register_SOURCES = tests/bench/register.c
tests_bench_register_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_register_LDADD = libpacker.la

# What berth adds to an srun, on a real cluster; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/launch
