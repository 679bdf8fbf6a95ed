# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks print figures and judge nothing.
noinst_PROGRAMS += tests/bench/register
tests_bench_register_SOURCES = tests/bench/register.c
tests_bench_register_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_register_LDADD = libpacker.la

# What berth adds to an srun, on a real cluster; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/launch

# contend and Pain beside measured or simulated slowdowns.
noinst_PROGRAMS += tests/bench/contend_eval
tests_bench_contend_eval_SOURCES = tests/bench/contend_eval.c packer/ctl_apps.c packer/ctl_input.c
tests_bench_contend_eval_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_contend_eval_LDADD = libpacker.la
