# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks print figures and judge nothing.
noinst_PROGRAMS += tests/bench/register
tests_bench_register_SOURCES = tests/bench/register.c tests/bench/folder.c tests/bench/folder.h
tests_bench_register_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_register_LDADD = libpacker.la

# What berth adds to an srun, on a real cluster; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/launch
EXTRA_DIST += tests/bench/pairs.sh

# What counting adds to a program that runs; likewise.
dist_noinst_SCRIPTS += tests/bench/overhead

# contend and Pain beside measured or simulated slowdowns.
noinst_PROGRAMS += tests/bench/contend_eval
tests_bench_contend_eval_SOURCES = tests/bench/contend_eval.c packer/ctl_apps.c packer/ctl_input.c
tests_bench_contend_eval_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_contend_eval_LDADD = libpacker.la

# How far the schemes' schedules are from the optimal one.
noinst_PROGRAMS += tests/bench/figure3
tests_bench_figure3_SOURCES = tests/bench/figure3.c tests/bench/figure3.h tests/bench/figure3_spec.c \
	packer/ctl_apps.c packer/ctl_apps.h packer/ctl_input.c packer/ctl_input.h \
	packer/plan.c packer/plan.h
tests_bench_figure3_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_figure3_LDADD = libpacker.la

# NuCore's time and optimum beside GLPK on the paper's formulation.
noinst_PROGRAMS += tests/bench/nucore
tests_bench_nucore_SOURCES = tests/bench/nucore.c tests/bench/numa_paper.c tests/bench/numa_paper.h \
	tests/bench/numa_random.c tests/bench/numa_random.h
tests_bench_nucore_CPPFLAGS = $(AM_CPPFLAGS) $(GLPK_CFLAGS)
tests_bench_nucore_LDADD = libmodels.la $(GLPK_LIBS) -lm

# What reading the counters of many steps costs; as root.
noinst_PROGRAMS += tests/bench/counters
tests_bench_counters_SOURCES = tests/bench/counters.c
tests_bench_counters_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_counters_LDADD = libpacker.la

# How the interference probe ranks programs of graded memory intensity, and what it costs.
noinst_PROGRAMS += tests/bench/probe tests/fixtures/programs/graded
tests_bench_probe_SOURCES = tests/bench/probe.c
tests_bench_probe_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_probe_LDADD = libpacker.la
tests_fixtures_programs_graded_SOURCES = tests/fixtures/programs/graded.c
tests_fixtures_programs_graded_CFLAGS = -O2

# What counting and re-placing many steps costs.
noinst_PROGRAMS += tests/bench/replace
tests_bench_replace_SOURCES = tests/bench/replace.c tests/bench/folder.c tests/bench/folder.h
tests_bench_replace_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_replace_LDADD = libpacker.la -lm

# What counting adds to a program, within one run; as root.
noinst_PROGRAMS += tests/bench/slowdown
tests_bench_slowdown_SOURCES = tests/bench/slowdown.c
tests_bench_slowdown_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_slowdown_LDADD = libpacker.la -lm

# How long berthctl report takes; after a build in ./build with its tests.
dist_noinst_SCRIPTS += tests/bench/report

# What the metrics' page of many steps costs the event loop; prints the page for test_metrics_names.sh.
noinst_PROGRAMS += tests/bench/metrics
tests_bench_metrics_SOURCES = tests/bench/metrics.c
tests_bench_metrics_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_metrics_LDADD = libpacker.la

# What a record costs the event loop, and how fast the ledger's thread is.
noinst_PROGRAMS += tests/bench/ledger
tests_bench_ledger_SOURCES = tests/bench/ledger.c
tests_bench_ledger_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_ledger_LDADD = libpacker.la

# What dividing the meters' energy among many steps costs.
noinst_PROGRAMS += tests/bench/bill
tests_bench_bill_SOURCES = tests/bench/bill.c tests/bench/folder.c tests/bench/folder.h
tests_bench_bill_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_bench_bill_LDADD = libpacker.la -lm
