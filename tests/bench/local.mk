# SPDX-License-Identifier: GPL-2.0-or-later
noinst_PROGRAMS += tests/bench/register
tests_bench_register_SOURCES = tests/bench/register.c
tests_bench_register_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_register_LDADD = libpacker.la
