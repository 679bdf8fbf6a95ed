# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks print figures and judge nothing.
noinst_LTLIBRARIES += libbench.la
libbench_la_SOURCES = tests/bench/bench.c tests/bench/bench.h tests/bench/berthd.c tests/bench/berthd.h \
	tests/bench/known.c tests/bench/known.h tests/bench/played.c tests/bench/played.h \
	tests/unit/common/folder.c tests/unit/common/folder.h

noinst_PROGRAMS += tests/bench/register
tests_bench_register_LDADD = libbench.la $(PACKER_LIBS)

# What berth adds to an srun, on a real cluster; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/launch
EXTRA_DIST += tests/bench/pairs.sh

# What counting adds to a program that runs, on a real cluster; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/overhead

# contend beside other models, against measured or simulated slowdowns.
dist_noinst_SCRIPTS += tests/bench/bubble_set.sh tests/bench/kerncraft_set.sh
noinst_PROGRAMS += tests/bench/contend_eval
tests_bench_contend_eval_SOURCES = tests/bench/contend_eval.c tests/bench/eval.h \
	tests/bench/eval_clock.c tests/bench/eval_copies.c tests/bench/eval_measures.c tests/bench/eval_observed.c \
	tests/bench/eval_set.c tests/bench/runs.c tests/bench/runs.h
tests_bench_contend_eval_LDADD = $(CTL_LIBS) $(PACKER_LIBS)

# What sizing costs and saves, on measured runs.
noinst_PROGRAMS += tests/bench/size
tests_bench_size_SOURCES = tests/bench/size.c tests/bench/eval.h tests/bench/eval_measures.c tests/bench/runs.c tests/bench/runs.h
tests_bench_size_LDADD = $(CTL_LIBS) $(PACKER_LIBS)

# How far the schemes' schedules are from the optimal one.
noinst_PROGRAMS += tests/bench/figure3
tests_bench_figure3_SOURCES = tests/bench/figure3.c tests/bench/figure3.h tests/bench/figure3_spec.c
tests_bench_figure3_LDADD = $(CTL_LIBS) $(PACKER_LIBS)

# NuCore's time, and how near it comes to the optimum that GLPK proves.
if GLPK
noinst_PROGRAMS += tests/bench/nucore
endif
tests_bench_nucore_SOURCES = tests/bench/nucore.c \
	tests/bench/numa_random.c tests/bench/numa_random.h \
	tests/bench/numa_json.c tests/bench/numa_json.h
tests_bench_nucore_LDADD = $(CTL_LIBS) $(PACKER_LIBS)

# What reading the counters of many steps costs; as root.
noinst_PROGRAMS += tests/bench/counters
tests_bench_counters_LDADD = libbench.la $(PACKER_LIBS)

# How the interference probe ranks programs of graded memory intensity, and what it costs.
noinst_PROGRAMS += tests/bench/probe tests/fixtures/programs/graded
tests_bench_probe_LDADD = libbench.la $(PACKER_LIBS)
tests_fixtures_programs_graded_CFLAGS = -O2

# What counting and re-placing many steps costs.
noinst_PROGRAMS += tests/bench/replace
tests_bench_replace_LDADD = libbench.la $(PACKER_LIBS)

# What counting adds to a program, within one run; as root.
noinst_PROGRAMS += tests/bench/slowdown
tests_bench_slowdown_LDADD = libbench.la $(PACKER_LIBS)

# How long berthctl report takes; after a build in ./build with its tests.
dist_noinst_SCRIPTS += tests/bench/report
EXTRA_DIST += tests/bench/records.sh

# What the metrics' page of many steps costs the event loop; prints the page for test_metrics_names.sh.
noinst_PROGRAMS += tests/bench/metrics
tests_bench_metrics_LDADD = libbench.la $(PACKER_LIBS)

# What a record costs the event loop, and how fast the ledger's thread is.
noinst_PROGRAMS += tests/bench/ledger
tests_bench_ledger_LDADD = libbench.la $(PACKER_LIBS)

# What berthd costs while nothing happens: all that runs by itself, with many steps.
noinst_PROGRAMS += tests/bench/steady
tests_bench_steady_LDADD = libbench.la $(PACKER_LIBS)

# What berthd takes from a program that has the whole node, and what that costs a thousand nodes; as root.
noinst_PROGRAMS += tests/bench/silence
tests_bench_silence_SOURCES = tests/bench/silence.c tests/bench/silence_detours.c tests/bench/silence_detours.h \
	tests/bench/silence_folder.c tests/bench/silence_folder.h \
	tests/bench/silence_scene.c tests/bench/silence_scene.h tests/bench/silence_sim.c tests/bench/silence_sim.h \
	tests/bench/silence_tell.c tests/bench/silence_tell.h tests/bench/silence_train.c tests/bench/silence_train.h \
	tests/bench/silence_watch.c tests/bench/silence_watch.h
tests_bench_silence_LDADD = $(CTL_LIBS) libbench.la $(PACKER_LIBS) -lpthread

# What dividing the meters' energy among many steps costs.
noinst_PROGRAMS += tests/bench/bill
tests_bench_bill_LDADD = libbench.la $(PACKER_LIBS)

# What the simulations of a node and of a cluster share.
day_parts = tests/bench/day_bar.c tests/bench/day_bar.h tests/bench/day_beside.c tests/bench/day_beside.h \
	tests/bench/day_berthd.c tests/bench/day_berthd.h tests/bench/day_best.c tests/bench/day_best.h \
	tests/bench/day_exchange.c tests/bench/day_exchange.h tests/bench/day_feed.c tests/bench/day_feed.h \
	tests/bench/day_log.c tests/bench/day_log.h tests/bench/day_machines.c tests/bench/day_machines.h \
	tests/bench/day_many.c tests/bench/day_many.h tests/bench/day_memory.c tests/bench/day_memory.h \
	tests/bench/day_noise.c tests/bench/day_noise.h tests/bench/day_random.h \
	tests/bench/day_search.c tests/bench/day_search.h tests/bench/day_sim.c tests/bench/day_sim.h \
	tests/bench/day_sizes.c tests/bench/day_sizes.h tests/bench/day_slurm.c tests/bench/day_slurm.h \
	tests/bench/day_swap.c tests/bench/day_swap.h tests/bench/day_threads.c tests/bench/day_threads.h \
	tests/bench/day_truth.c tests/bench/day_truth.h \
	tests/bench/day_words.c tests/bench/day_words.h

# Days on a simulated node, with berthd behind its socket; its clock is loaded before the C library.
noinst_PROGRAMS += tests/bench/day
tests_bench_day_SOURCES = tests/bench/day.c tests/bench/day_options.c tests/bench/day_options.h \
	tests/bench/day_free.c tests/bench/day_free.h tests/bench/day_page.c tests/bench/day_page.h \
	tests/bench/day_payer.c tests/bench/day_payer.h tests/bench/day_scenes.c tests/bench/day_scenes.h \
	tests/bench/day_trial.c tests/bench/day_trial.h $(day_parts)
tests_bench_day_LDADD = $(CTL_LIBS) libbench.la $(PACKER_LIBS)
noinst_LTLIBRARIES += tests/bench/day_clock.la
tests_bench_day_clock_la_SOURCES = tests/bench/day_clock.c tests/bench/day_clock.h
tests_bench_day_clock_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# Which node a job goes to, beside what berth does inside it: the jobs of a log on a simulated cluster.
cluster_parts = tests/bench/cluster_choose.c tests/bench/cluster_guess.c tests/bench/cluster_guess.h \
	tests/bench/cluster_node.c tests/bench/cluster_node.h tests/bench/cluster_sim.c tests/bench/cluster_sim.h \
	tests/bench/cluster_work.c tests/bench/cluster_work.h
noinst_PROGRAMS += tests/bench/cluster
tests_bench_cluster_SOURCES = tests/bench/cluster.c tests/bench/cluster_options.c tests/bench/cluster_options.h \
	tests/bench/cluster_sample.c tests/bench/cluster_sample.h $(cluster_parts) $(day_parts)
tests_bench_cluster_LDADD = $(CTL_LIBS) libbench.la $(PACKER_LIBS)

# Many nodes and one ledger in MariaDB: does it keep up; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/nodes

# Very many registrations over the socket.
noinst_PROGRAMS += tests/bench/registrations
tests_bench_registrations_LDADD = libbench.la $(PACKER_LIBS)

# Load on a real cluster, beside Slurm alone, and over the socket; as root, after a build in ./build.
dist_noinst_SCRIPTS += tests/bench/load
EXTRA_DIST += tests/bench/allocation.sh

# How long root waits while a user floods the sockets, and forks; as root, after a build in ./build with its tests.
dist_noinst_SCRIPTS += tests/bench/flood
noinst_PROGRAMS += tests/bench/latency
tests_bench_latency_LDADD = libwire.la

# What reading Slurm's folders costs; as root, on cgroup v1.
noinst_PROGRAMS += tests/bench/folders
tests_bench_folders_LDADD = libbench.la $(PACKER_LIBS)

# What FaithFul's slices do to threads that take turns with one lock.
noinst_PROGRAMS += tests/bench/faithful
tests_bench_faithful_SOURCES = tests/bench/faithful.c tests/bench/lockers.c tests/bench/lockers.h
tests_bench_faithful_LDADD = libbench.la $(PACKER_LIBS)

# What Thread Tranquilizer's slices do to them.
noinst_PROGRAMS += tests/bench/tranquil
tests_bench_tranquil_SOURCES = tests/bench/tranquil.c tests/bench/lockers.c tests/bench/lockers.h
tests_bench_tranquil_LDADD = libbench.la $(PACKER_LIBS)

# What the readings of bursts cost; as root.
noinst_PROGRAMS += tests/bench/burst
tests_bench_burst_LDADD = libbench.la $(PACKER_LIBS)

# Readers of a blackboard against a writer at full speed: how many sections are torn (none), how fast it is.
noinst_PROGRAMS += tests/bench/blackboard
tests_bench_blackboard_LDADD = libtest.la libblackboard.la -lpthread

# What distributed barriers, conditions and mutexes do for threads that meet often; after a build in ./build with its tests.
dist_noinst_SCRIPTS += tests/bench/sync
noinst_PROGRAMS += tests/bench/sync_program
tests_bench_sync_program_CFLAGS = -O2
tests_bench_sync_program_LDADD = -lpthread

# What the preload library costs a program; after a build in ./build with its tests.
dist_noinst_SCRIPTS += tests/bench/runtime

# Programs of tasks with libberth_tasks, libgomp and libomp.
dist_noinst_SCRIPTS += tests/bench/tasks
EXTRA_DIST += tests/bench/tasks_kernels.c

# What locks=cohort does to threads that take turns with one mutex, and what it costs; after a build in ./build with its tests.
dist_noinst_SCRIPTS += tests/bench/cohort
noinst_PROGRAMS += tests/bench/turns
tests_bench_turns_LDADD = -lpthread

# Two trees side by side, each built in build/compare.
dist_noinst_SCRIPTS += tests/bench/compare tests/bench/compare_launch tests/bench/day-table
EXTRA_DIST += tests/bench/compare_build.sh tests/bench/compare_figures.sh tests/bench/day_eight.sh
noinst_PROGRAMS += tests/bench/drive tests/bench/compare_table
tests_bench_drive_SOURCES = tests/bench/drive.c tests/bench/drive_windows.c tests/bench/drive_windows.h
tests_bench_drive_LDADD = libbench.la $(PACKER_LIBS)
tests_bench_compare_table_SOURCES = tests/bench/compare_table.c tests/bench/compare_table.h tests/bench/compare_stats.c
tests_bench_compare_table_LDADD = $(PACKER_LIBS)
