# SPDX-License-Identifier: GPL-2.0-or-later
# One line a program: tests/unit/ROOM/test_FILE tests packer/ROOM/FILE.c; all are linked with what LDADD (Makefile.am) names.
# libtest has what several tests share.
noinst_LTLIBRARIES += libtest.la
libtest_la_SOURCES = \
	tests/unit/common/bound_process.c tests/unit/common/bound_process.h \
	tests/unit/common/attributes.h \
	tests/unit/common/bill_box.c tests/unit/common/bill_box.h \
	tests/unit/common/clock_stands.h \
	tests/unit/common/cpufreq_tree.c tests/unit/common/cpufreq_tree.h \
	tests/unit/common/faulter.c tests/unit/common/faulter.h \
	tests/unit/common/folder.c tests/unit/common/folder.h \
	tests/unit/common/fixture.c tests/unit/common/fixture.h \
	tests/unit/common/fixture_child.c tests/unit/common/fixture_child.h \
	tests/unit/common/hwmon_tree.c tests/unit/common/hwmon_tree.h \
	tests/unit/common/hear.c tests/unit/common/hear.h \
	tests/unit/common/numa_scene.c tests/unit/common/numa_scene.h \
	tests/unit/common/ledger_box.c tests/unit/common/ledger_box.h \
	tests/unit/common/machine.c tests/unit/common/machine.h \
	tests/unit/common/made_machine.c tests/unit/common/made_machine.h \
	tests/unit/common/handed.h \
	tests/unit/common/mariadb_box.c tests/unit/common/mariadb_box.h \
	tests/unit/common/memory_tree.c tests/unit/common/memory_tree.h \
	tests/unit/common/meters.c tests/unit/common/meters.h \
	tests/unit/common/metrics_page.c tests/unit/common/metrics_page.h \
	tests/unit/common/msr_tree.c tests/unit/common/msr_tree.h \
	tests/unit/common/noise.h \
	tests/unit/common/numa_box.c tests/unit/common/numa_box.h \
	tests/unit/common/perf_box.c tests/unit/common/perf_box.h \
	tests/unit/common/profile_store.c tests/unit/common/profile_store.h \
	tests/unit/common/report_box.c tests/unit/common/report_box.h \
	tests/unit/common/recorded.c tests/unit/common/recorded.h \
	tests/unit/common/slurm_tree.c tests/unit/common/slurm_tree.h \
	tests/unit/common/slices_now.h \
	tests/unit/common/step_files.c tests/unit/common/step_files.h \
	tests/unit/common/cpusets.c tests/unit/common/cpusets.h \
	tests/unit/common/sharing.c tests/unit/common/sharing.h \
	tests/unit/common/steps.c tests/unit/common/steps.h \
	tests/unit/common/thorough.h \
	tests/unit/common/throttle_scene.c tests/unit/common/throttle_scene.h \
	tests/unit/common/torn.c tests/unit/common/torn.h

unit_programs = \
	tests/unit/base/test_array \
	tests/unit/base/test_cpus \
	tests/unit/base/test_error \
	tests/unit/base/test_file \
	tests/unit/base/test_hands \
	tests/unit/base/test_json \
	tests/unit/base/test_json_asked \
	tests/unit/base/test_json_fields \
	tests/unit/base/test_library \
	tests/unit/base/test_log \
	tests/unit/base/test_nearest \
	tests/unit/base/test_path_owner \
	tests/unit/base/test_siphash \
	tests/unit/base/test_text \
	tests/unit/base/test_worker \
	tests/unit/bench/test_cluster \
	tests/unit/bench/test_day_many \
	tests/unit/bench/test_day_memory \
	tests/unit/bench/test_day_sim \
	tests/unit/bench/test_day_slurm \
	tests/unit/bench/test_silence_sim \
	tests/unit/bench/test_silence_watch \
	tests/unit/bill/test_bill \
	tests/unit/blackboard/test_blackboard \
	tests/unit/board/test_board \
	tests/unit/board/test_imc \
	tests/unit/board/test_map \
	tests/unit/board/test_mbm \
	tests/unit/probe/calibrate/test_fit \
	tests/unit/probe/calibrate/test_measure \
	tests/unit/probe/calibrate/test_run \
	tests/unit/cli/common/test_job_id \
	tests/unit/cli/options/test_options \
	tests/unit/cli/common/test_say \
	tests/unit/cli/common/test_screen \
	tests/unit/lab/model/test_contend \
	tests/unit/lab/plan/test_apps \
	tests/unit/lab/plan/test_pairs \
	tests/unit/lab/plan/test_samples \
	tests/unit/lab/plan/test_topologies \
	tests/unit/cli/test_doctor_movers \
	tests/unit/cli/test_verdict \
	tests/unit/cli/test_explain \
	tests/unit/cli/test_explain_inside \
	tests/unit/cli/test_record_lines \
	tests/unit/conf/test_admit \
	tests/unit/conf/test_conf \
	tests/unit/slurm/test_folder_watch \
	tests/unit/slurm/test_job_watch \
	tests/unit/slurm/test_private_data \
	tests/unit/slurm/test_slurm_conf \
	tests/unit/slurm/test_slurm_cores \
	tests/unit/slurm/test_slurm_jobs \
	tests/unit/conf/test_tariff \
	tests/unit/conf/test_watts \
	tests/unit/counters/test_by_node \
	tests/unit/counters/test_memory_events \
	tests/unit/counters/test_lock_time \
	tests/unit/counters/test_maps_reader \
	tests/unit/counters/test_stat_reader \
	tests/unit/counters/test_perf \
	tests/unit/counters/test_perf_cgroup \
	tests/unit/counters/test_perf_events \
	tests/unit/counters/test_perf_group \
	tests/unit/counters/test_perf_plan \
	tests/unit/counters/test_perf_scale \
	tests/unit/counters/test_process_sums \
	tests/unit/counters/test_rates \
	tests/unit/counters/test_recorded \
	tests/unit/counters/test_replay \
	tests/unit/counters/test_resctrl \
	tests/unit/counters/test_sample_line \
	tests/unit/counters/test_software \
	tests/unit/counters/test_step_usage \
	tests/unit/counters/test_thread_times \
	tests/unit/daemon/test_answer \
	tests/unit/daemon/test_features \
	tests/unit/daemon/test_identify \
	tests/unit/daemon/test_late \
	tests/unit/daemon/test_ledger_record \
	tests/unit/daemon/test_notify \
	tests/unit/daemon/test_open \
	tests/unit/daemon/test_own_cpus \
	tests/unit/daemon/test_pipeline \
	tests/unit/daemon/test_node_news \
	tests/unit/daemon/test_pressure \
	tests/unit/daemon/test_privileges \
	tests/unit/daemon/test_propose \
	tests/unit/daemon/test_questions \
	tests/unit/daemon/test_records \
	tests/unit/daemon/test_render \
	tests/unit/daemon/test_render_bill \
	tests/unit/daemon/test_render_sample \
	tests/unit/daemon/test_requests \
	tests/unit/daemon/test_resume \
	tests/unit/daemon/test_stages \
	tests/unit/daemon/test_stored \
	tests/unit/daemon/test_told \
	tests/unit/daemon/test_warning \
	tests/unit/enact/test_binders \
	tests/unit/enact/test_bindings \
	tests/unit/enact/test_enact \
	tests/unit/enact/test_idle \
	tests/unit/enact/test_kept \
	tests/unit/enact/test_memory_follow \
	tests/unit/enact/test_offline \
	tests/unit/enact/test_ranks_care \
	tests/unit/enact/test_release \
	tests/unit/enact/test_ports \
	tests/unit/enact/test_replace \
	tests/unit/enact/test_thermal \
	tests/unit/enact/test_trial \
	tests/unit/energy/test_energy \
	tests/unit/energy/test_hwmon \
	tests/unit/energy/test_model \
	tests/unit/energy/test_parts \
	tests/unit/energy/test_perf \
	tests/unit/energy/test_powercap \
	tests/unit/energy/test_sampler \
	tests/unit/energy/test_temperatures \
	tests/unit/enforce/test_cgroup1 \
	tests/unit/enforce/test_cgroup2 \
	tests/unit/enforce/test_enforce \
	tests/unit/enforce/test_listed \
	tests/unit/enforce/test_series \
	tests/unit/enforce/test_slices \
	tests/unit/enforce/test_threads \
	tests/unit/hand/test_hand \
	tests/unit/identity/test_asker \
	tests/unit/identity/test_jobs \
	tests/unit/inside/test_deal \
	tests/unit/inside/test_defaults \
	tests/unit/inside/test_follow \
	tests/unit/inside/test_inside \
	tests/unit/inside/test_prefetch \
	tests/unit/inside/test_shuffle \
	tests/unit/inside/test_synchronise \
	tests/unit/inside/test_throttle \
	tests/unit/inside/test_tranquil \
	tests/unit/ledger/test_ledger \
	tests/unit/ledger/test_spool \
	tests/unit/machine/test_bandwidth \
	tests/unit/machine/test_devices \
	tests/unit/machine/test_dram \
	tests/unit/machine/test_profile \
	tests/unit/machine/test_topo \
	tests/unit/machine/test_type \
	tests/unit/memory/test_mover \
	tests/unit/memory/test_origin \
	tests/unit/memory/test_pages \
	tests/unit/metrics/test_http \
	tests/unit/metrics/test_listen \
	tests/unit/metrics/test_node \
	tests/unit/metrics/test_text \
	tests/unit/metrics/test_textfile \
	tests/unit/models/energy/test_attribute \
	tests/unit/models/energy/test_edp \
	tests/unit/models/energy/test_nnls \
	tests/unit/models/energy/test_power \
	tests/unit/models/energy/test_thermal \
	tests/unit/models/inside/test_adapt \
	tests/unit/models/inside/test_faithful \
	tests/unit/models/inside/test_reinforce \
	tests/unit/models/inside/test_prefetch \
	tests/unit/models/inside/test_shuffle \
	tests/unit/models/inside/test_tranquil \
	tests/unit/models/numa/test_dramon \
	tests/unit/models/numa/test_flexthread \
	tests/unit/models/numa/test_margins \
	tests/unit/models/numa/test_no_memory \
	tests/unit/models/test_published \
	tests/unit/models/numa/test_roof \
	tests/unit/models/online/test_dio \
	tests/unit/models/online/test_opticore \
	tests/unit/models/online/test_page_move \
	tests/unit/models/online/test_phase \
	tests/unit/models/online/test_rate \
	tests/unit/models/online/test_statstack \
	tests/unit/models/online/test_verdict \
	tests/unit/models/partition/test_matching \
	tests/unit/models/partition/test_partition \
	tests/unit/models/partition/test_rooms \
	tests/unit/models/placing/test_cluster \
	tests/unit/models/placing/test_cosit \
	tests/unit/models/placing/test_di \
	tests/unit/models/placing/test_dio_power \
	tests/unit/models/placing/test_improve \
	tests/unit/models/placing/test_isolate \
	tests/unit/models/placing/test_steer \
	tests/unit/models/slowdown/test_animal \
	tests/unit/models/slowdown/test_clock \
	tests/unit/models/slowdown/test_contend \
	tests/unit/models/slowdown/test_evidence \
	tests/unit/models/slowdown/test_loss \
	tests/unit/models/slowdown/test_missrate \
	tests/unit/models/slowdown/test_null_test \
	tests/unit/models/slowdown/test_pain \
	tests/unit/models/slowdown/test_parts \
	tests/unit/models/slowdown/test_sdc \
	tests/unit/models/tasks/test_cohort \
	tests/unit/models/tasks/test_locality \
	tests/unit/models/tasks/test_saturation \
	tests/unit/models/tasks/test_steal \
	tests/unit/models/tasks/test_threshold \
	tests/unit/models/tasks/test_throttle_run \
	tests/unit/observe/test_classify \
	tests/unit/observe/test_course \
	tests/unit/observe/test_learn \
	tests/unit/observe/test_ranks_look \
	tests/unit/observe/test_rivals \
	tests/unit/observe/test_seek \
	tests/unit/observe/test_slowdown \
	tests/unit/observe/test_spell \
	tests/unit/observe/test_figures \
	tests/unit/observe/test_usage \
	tests/unit/observe/test_window \
	tests/unit/place/test_bound \
	tests/unit/place/test_culprits \
	tests/unit/place/test_forecast \
	tests/unit/place/test_isolation \
	tests/unit/place/test_near \
	tests/unit/place/test_place \
	tests/unit/place/test_policies \
	tests/unit/place/test_power \
	tests/unit/place/test_search \
	tests/unit/place/test_reason \
	tests/unit/place/test_siblings \
	tests/unit/place/test_solved \
	tests/unit/place/test_threads \
	tests/unit/plugin/test_bind \
	tests/unit/plugin/test_options \
	tests/unit/plugin/test_preload \
	tests/unit/plugin/test_devices \
	tests/unit/plugin/test_evict \
	tests/unit/plugin/test_pin \
	tests/unit/plugin/test_program \
	tests/unit/interference/test_child \
	tests/unit/interference/test_estimate \
	tests/unit/interference/test_probe \
	tests/unit/profiles/test_binding \
	tests/unit/profiles/test_db \
	tests/unit/profiles/test_demand \
	tests/unit/profiles/test_key \
	tests/unit/profiles/test_owner \
	tests/unit/profiles/test_pair \
	tests/unit/profiles/test_profiles \
	tests/unit/profiles/test_sample \
	tests/unit/profiles/test_text \
	tests/unit/profiles/test_threads \
	tests/unit/report/test_benefit \
	tests/unit/report/test_accounting \
	tests/unit/report/test_format \
	tests/unit/report/test_html \
	tests/unit/report/test_sacct_time \
	tests/unit/report/test_steered \
	tests/unit/report/test_totals \
	tests/unit/report/test_variation \
	tests/unit/reuse/test_address_source \
	tests/unit/reuse/test_perf_ring \
	tests/unit/reuse/test_sampler \
	tests/unit/reuse/test_watchpoint \
	tests/unit/runtime/test_barrier \
	tests/unit/runtime/test_contention \
	tests/unit/runtime/test_crowd \
	tests/unit/runtime/test_nodes \
	tests/unit/runtime/test_throttle \
	tests/unit/serve/test_budget \
	tests/unit/serve/test_client \
	tests/unit/serve/test_listen \
	tests/unit/serve/test_rounds \
	tests/unit/serve/test_server \
	tests/unit/settle/test_comment \
	tests/unit/settle/test_figures \
	tests/unit/settle/test_list \
	tests/unit/settle/test_settler \
	tests/unit/size/test_loop \
	tests/unit/size/test_model \
	tests/unit/size/test_paper \
	tests/unit/size/test_share \
	tests/unit/size/test_share_adapt \
	tests/unit/size/test_share_wait \
	tests/unit/size/test_size \
	tests/unit/size/test_traffic \
	tests/unit/size/test_together \
	tests/unit/sql/test_sql \
	tests/unit/steer/test_hours \
	tests/unit/steer/test_round \
	tests/unit/steps/test_journal \
	tests/unit/steps/test_journal_file \
	tests/unit/steps/test_journal_memory \
	tests/unit/steps/test_os_noise \
	tests/unit/steps/test_pairs \
	tests/unit/steps/test_pool \
	tests/unit/steps/test_programs \
	tests/unit/steps/test_rank_tasks \
	tests/unit/steps/test_registry \
	tests/unit/steps/test_rest \
	tests/unit/steps/test_together \
	tests/unit/steps/test_walk \
	tests/unit/system/test_capabilities \
	tests/unit/system/test_cpu_busy \
	tests/unit/system/test_memory_nodes \
	tests/unit/slurm/test_plugin_file \
	tests/unit/system/test_prefetchers \
	tests/unit/system/test_process \
	tests/unit/system/test_process_look \
	tests/unit/system/test_process_table \
	tests/unit/system/test_process_watch \
	tests/unit/system/test_rootfs \
	tests/unit/system/test_run_program \
	tests/unit/slurm/test_step_cgroup \
	tests/unit/slurm/test_stepd \
	tests/unit/slurm/test_strangers \
	tests/unit/system/test_subuids \
	tests/unit/system/test_taskstats \
	tests/unit/system/test_uncore \
	tests/unit/system/test_unix_socket \
	tests/unit/system/test_urgency \
	tests/unit/tasks/test_bounded \
	tests/unit/tasks/test_deque \
	tests/unit/tasks/test_fork \
	tests/unit/tasks/test_memory \
	tests/unit/tasks/test_mutex \
	tests/unit/tasks/test_objects \
	tests/unit/tasks/test_places \
	tests/unit/tasks/test_rest \
	tests/unit/tasks/test_sleep \
	tests/unit/tasks/test_tasks \
	tests/unit/tasks/test_trees \
	tests/unit/probe/trace/test_cachesim \
	tests/unit/probe/trace/test_dramsim \
	tests/unit/probe/trace/test_reuse \
	tests/unit/wire/test_wire \
	tests/unit/wire/test_wire_client \
	tests/unit/wire/test_wire_guest \
	tests/unit/wire/test_wire_left \
	tests/unit/wire/test_wire_names \
	tests/unit/wire/test_wire_program \
	tests/unit/wire/test_wire_shape
check_PROGRAMS += $(unit_programs)

unit_scripts = \
	tests/unit/daemon/test_apart.sh \
	tests/unit/daemon/test_berthd.sh \
	tests/unit/bench/test_compare_table.sh \
	tests/unit/bench/test_silence.sh \
	tests/unit/daemon/test_day.sh \
	tests/unit/probe/calibrate/test_adapt.sh \
	tests/unit/probe/calibrate/test_calibrate.sh \
	tests/unit/lab/model/test_dramon.sh \
	tests/unit/lab/model/test_flexthread.sh \
	tests/unit/lab/model/test_inside.sh \
	tests/unit/lab/model/test_tasks.sh \
	tests/unit/lab/model/test_matching.sh \
	tests/unit/lab/model/test_model.sh \
	tests/unit/lab/model/test_nucore.sh \
	tests/unit/lab/plan/test_plan.sh \
	tests/unit/probe/profile/test_pairs.sh \
	tests/unit/probe/profile/test_profile.sh \
	tests/unit/probe/profile/test_store.sh \
	tests/unit/probe/threads/test_microstates.sh \
	tests/unit/probe/threads/test_threads.sh \
	tests/unit/cli/test_berthctl.sh \
	tests/unit/cli/test_blackboard.sh \
	tests/unit/cli/test_cluster.sh \
	tests/unit/cli/test_completion.sh \
	tests/unit/cli/test_job.sh \
	tests/unit/cli/test_parts.sh \
	tests/unit/cli/test_why.sh \
	tests/unit/cli/test_record.sh \
	tests/unit/probe/test_study.sh \
	tests/unit/cli/test_report.sh \
	tests/unit/cli/test_report_page.sh \
	tests/unit/etc/test_unit.sh \
	tests/unit/metrics/test_names.sh \
	tests/unit/models/test_contend_eval.sh \
	tests/unit/models/test_figure3.sh \
	tests/unit/tasks/test_library.sh \
	tests/unit/tasks/test_manuals.sh
# These hold NuMem and NuCore against GLPK.
if GLPK
unit_programs += tests/unit/models/numa/test_nucore tests/unit/models/numa/test_numem
endif
# Sanitizers see nothing of these: one builds what it needs with its own, the others read the sources.
if !SANITIZERS
TESTS += tests/unit/tasks/test_tsan.sh tests/check-layers tests/test-layers tests/check-writers tests/test-writers \
	tests/check-tables tests/test-tables tests/check-bag tests/test-bag tests/check-hand tests/check-names tests/check-map tests/test-once
endif
EXTRA_DIST += $(unit_scripts) tests/unit/common/ctl_check.sh tests/unit/metrics/rules_test.yml tests/unit/tasks/test_tsan.sh

TESTS += $(unit_programs) $(unit_scripts)
EXTRA_DIST += tests/check-layers tests/test-layers tests/check-writers tests/test-writers tests/check-tables tests/test-tables tests/check-bag tests/check-names \
	tests/check-map tests/test-bag tests/test-once

# What a test takes from elsewhere.
day_node = tests/bench/day_sim.c tests/bench/day_best.c tests/bench/day_truth.c tests/bench/day_noise.c tests/bench/day_search.c \
	tests/bench/day_memory.c tests/bench/day_beside.c tests/bench/day_many.c tests/bench/day_log.c tests/bench/day_sizes.c tests/bench/day_slurm.c \
	tests/bench/day_exchange.c tests/bench/day_swap.c tests/bench/day_threads.c
tests_unit_steer_test_hours_SOURCES = tests/unit/steer/test_hours.c $(steer_parts)
tests_unit_steer_test_round_SOURCES = tests/unit/steer/test_round.c $(steer_parts)
tests_unit_bench_test_cluster_SOURCES = tests/unit/bench/test_cluster.c $(cluster_parts) $(day_node)
tests_unit_bench_test_day_many_SOURCES = tests/unit/bench/test_day_many.c $(day_node)
tests_unit_bench_test_day_memory_SOURCES = tests/unit/bench/test_day_memory.c tests/unit/bench/day_node.c tests/unit/bench/day_node.h tests/bench/day_payer.c $(day_node)
tests_unit_bench_test_day_sim_SOURCES = tests/unit/bench/test_day_sim.c tests/unit/bench/day_node.c tests/unit/bench/day_node.h tests/bench/day_free.c tests/bench/day_machines.c $(day_node)
tests_unit_bench_test_day_slurm_SOURCES = tests/unit/bench/test_day_slurm.c tests/bench/day_slurm.c
tests_unit_bench_test_silence_sim_SOURCES = tests/unit/bench/test_silence_sim.c tests/bench/silence_sim.c tests/bench/silence_train.c
tests_unit_bench_test_silence_sim_LDADD = libbench.la $(LDADD)
tests_unit_bench_test_silence_watch_SOURCES = tests/unit/bench/test_silence_watch.c tests/bench/silence_train.c tests/bench/silence_watch.c
tests_unit_bench_test_silence_watch_LDADD = libbench.la $(LDADD)
tests_unit_models_numa_test_no_memory_SOURCES = tests/unit/models/numa/test_no_memory.c tests/bench/numa_random.c
tests_unit_models_numa_test_nucore_SOURCES = tests/unit/models/numa/test_nucore.c tests/bench/numa_paper.c tests/bench/numa_random.c
tests_unit_models_numa_test_numem_SOURCES = tests/unit/models/numa/test_numem.c tests/bench/numa_paper.c tests/bench/numa_random.c
tests_unit_runtime_test_barrier_SOURCES = tests/unit/runtime/test_barrier.c runtime/barrier.c runtime/lines.c runtime/nodes.c
tests_unit_runtime_test_barrier_LDFLAGS = -Wl,--wrap=lines_take
tests_unit_runtime_test_barrier_LDADD = $(CMOCKA_LIBS) -lpthread
tests_unit_runtime_test_contention_SOURCES = tests/unit/runtime/test_contention.c runtime/contention.c
tests_unit_runtime_test_contention_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_runtime_test_contention_LDADD = libblackboard.la $(CMOCKA_LIBS) -lm -lpthread
tests_unit_runtime_test_crowd_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=open
tests_unit_runtime_test_crowd_LDADD = $(TASKS_TESTED)
tests_unit_runtime_test_throttle_SOURCES = tests/unit/runtime/test_throttle.c runtime/throttle.c
tests_unit_runtime_test_throttle_LDADD = $(CMOCKA_LIBS) -lpthread
tests_unit_runtime_test_nodes_SOURCES = tests/unit/runtime/test_nodes.c runtime/nodes.c
tests_unit_runtime_test_nodes_LDADD = $(CMOCKA_LIBS) -lpthread
tests_unit_plugin_test_preload_SOURCES = tests/unit/plugin/test_preload.c plugin/preload.c
tests_unit_plugin_test_preload_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_unit_plugin_test_devices_SOURCES = tests/unit/plugin/test_devices.c plugin/devices.c
tests_unit_plugin_test_evict_SOURCES = tests/unit/plugin/test_evict.c plugin/evict.c
tests_unit_plugin_test_pin_SOURCES = tests/unit/plugin/test_pin.c plugin/pin.c plugin/pin_program.c plugin/pin_python.c plugin/pin_script.c
tests_unit_plugin_test_program_SOURCES = tests/unit/plugin/test_program.c plugin/pin.c plugin/pin_program.c plugin/pin_python.c plugin/pin_script.c \
	plugin/program.c
tests_unit_plugin_test_bind_SOURCES = tests/unit/plugin/test_bind.c plugin/bind.c
tests_unit_plugin_test_program_LDFLAGS = -Wl,--wrap=_exit
tests_unit_plugin_test_options_SOURCES = tests/unit/plugin/test_options.c plugin/options.c
tests_unit_tasks_test_bounded_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_deque_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_fork_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_memory_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_memory_LDFLAGS = -Wl,--wrap=malloc,--wrap=aligned_alloc,--wrap=mmap
tests_unit_tasks_test_mutex_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_mutex_LDFLAGS = -Wl,--wrap=mmap
tests_unit_tasks_test_objects_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_objects_LDFLAGS = -Wl,--wrap=syscall
tests_unit_tasks_test_places_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_rest_LDADD = libblackboard.la $(TASKS_TESTED) -lm
tests_unit_tasks_test_sleep_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_sleep_LDFLAGS = -Wl,--wrap=pthread_mutex_lock
tests_unit_tasks_test_tasks_LDADD = $(TASKS_TESTED)
tests_unit_tasks_test_trees_LDADD = $(TASKS_TESTED)
TASKS_TESTED = libtasks.la $(CMOCKA_LIBS) -lpthread
tests_unit_settle_test_comment_SOURCES = tests/unit/settle/test_comment.c packer/settle/comment.c
tests_unit_steps_test_os_noise_SOURCES = tests/unit/steps/test_os_noise.c tests/bench/silence_sim.c tests/bench/silence_train.c
tests_unit_steps_test_os_noise_LDADD = libbench.la $(LDADD)
tests_unit_slurm_test_plugin_file_CPPFLAGS = $(AM_CPPFLAGS) -DSLURM_SERIES=$(SLURM_SERIES_NUMBER)
EXTRA_tests_unit_slurm_test_plugin_file_DEPENDENCIES = spank_berth.la
tests_unit_base_test_json_LDFLAGS = -Wl,--wrap=json_tokener_parse_ex,--wrap=json_tokener_set_flags
tests_unit_enact_test_enact_LDFLAGS = -Wl,--wrap=array_grow
tests_unit_daemon_test_identify_LDFLAGS = -Wl,--wrap=asker_ask,--wrap=asker_take,--wrap=ledger_identify
tests_unit_observe_test_window_LDFLAGS = -Wl,--wrap=counters_attach,--wrap=clock_s
tests_unit_cli_test_explain_LDFLAGS = -Wl,--wrap=ctl_ask,--wrap=open_memstream
tests_unit_ledger_test_ledger_LDFLAGS = -Wl,--wrap=spool_append
tests_unit_counters_test_perf_events_LDADD = $(LDADD) $(PFM_LIBS)
tests_unit_enforce_test_cgroup1_LDFLAGS = -Wl,--wrap=rootfs_read -Wl,--wrap=rootfs_list -Wl,--wrap=rootfs_list_folders -Wl,--wrap=rootfs_openat \
	-Wl,--wrap=process_look
tests_unit_enact_test_ports_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_enact_test_replace_LDFLAGS = -Wl,--wrap=place_decide,--wrap=clock_s
tests_unit_daemon_test_propose_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_size_test_loop_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_observe_test_slowdown_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_size_test_paper_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_size_test_share_adapt_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_inside_test_tranquil_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_inside_test_prefetch_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_daemon_test_late_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_bill_test_bill_LDFLAGS = -Wl,--wrap=clock_s
tests_unit_conf_test_admit_LDFLAGS = -Wl,--wrap=getpwnam_r

# A part of the tool of valgrind, with a valgrind that the test plays.
if VALGRIND_TOOL
TESTS += tests/unit/probe/trace/tool/test_turns
check_PROGRAMS += tests/unit/probe/trace/tool/test_turns
tests_unit_probe_trace_tool_test_turns_SOURCES = tests/unit/probe/trace/tool/test_turns.c probe/trace/tool/turns.c
tests_unit_probe_trace_tool_test_turns_CPPFLAGS = $(AM_CPPFLAGS) $(VALGRIND_TOOL_CPPFLAGS)
tests_unit_probe_trace_tool_test_turns_LDADD = $(CMOCKA_LIBS)
endif

# What the tests of berthctl run.
check_PROGRAMS += tests/unit/common/board_fill tests/unit/common/fake_berthd tests/unit/common/ledger_fill

# Programs to be profiled: without sanitizers, which do not run under valgrind, and without libraries.
check_PROGRAMS += tests/fixtures/programs/reuse tests/fixtures/programs/devil tests/fixtures/programs/turtle tests/fixtures/programs/knee
tests_fixtures_programs_knee_CFLAGS = -O2
tests_fixtures_programs_knee_LDADD = -lpthread
tests_fixtures_programs_reuse_CFLAGS = -O2
tests_fixtures_programs_reuse_LDADD = -lpthread
tests_fixtures_programs_devil_CFLAGS = -O2
tests_fixtures_programs_devil_LDADD =
check_PROGRAMS += tests/fixtures/programs/binder
tests_fixtures_programs_binder_LDADD = -lpthread
tests_fixtures_programs_turtle_CFLAGS = -O2
tests_fixtures_programs_turtle_LDADD =

EXTRA_DIST += tests/fixtures/pairs/LICENSE tests/fixtures/pairs/README.md tests/fixtures/pairs/spec2017.json
EXTRA_DIST += tests/fixtures/conf/older-defaults tests/fixtures/conf/older-set
EXTRA_DIST += tests/fixtures/topologies/uneven.xml tests/fixtures/meters tests/fixtures/told \
	tests/fixtures/samples/software.jsonl tests/fixtures/samples/three.csv tests/fixtures/samples/three.jsonl
