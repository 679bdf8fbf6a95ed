# SPDX-License-Identifier: GPL-2.0-or-later
# libwire: what the plugin links too. libpacker: everything else but the two main programs.
noinst_LTLIBRARIES += libwire.la libpacker.la
libwire_la_SOURCES = \
	packer/base/file.c packer/base/file.h \
	packer/base/text.c packer/base/text.h \
	packer/base/json_fields.c packer/base/json_fields.h \
	packer/cpus.c packer/cpus.h \
	packer/error.c packer/error.h \
	packer/json.c packer/json.h \
	packer/wire.c packer/wire.h \
	packer/wire_names.c \
	packer/wire_shape.c
libwire_la_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) $(XXHASH_CFLAGS)
libwire_la_LIBADD = $(JSONC_LIBS) $(XXHASH_LIBS)

libpacker_la_SOURCES = \
	packer/base/worker.c packer/base/worker.h \
	packer/address_source.c packer/address_source.h \
	packer/admit.c packer/admit.h \
	packer/answer.c packer/answer.h \
	packer/busy.c packer/busy.h \
	packer/classify.c packer/classify.h \
	packer/conf.c packer/conf.h \
	packer/counter_info.c packer/counter_info.h \
	packer/counters.c packer/counters.h \
	packer/counters_perf.c \
	packer/counters_replay.c \
	packer/counters_resctrl.c \
	packer/counters_software.c \
	packer/enforce.c packer/enforce.h \
	packer/enforce_cgroup.c \
	packer/enforce_cgroup1.c \
	packer/enforce_cgroup2.c \
	packer/enforce_dryrun.c \
	packer/enforce_jobs.c \
	packer/enforce_tasks.c \
	packer/hold.c packer/hold.h \
	packer/job_watch.c packer/job_watch.h \
	packer/forecast.c packer/forecast.h \
	packer/isolation.c packer/isolation.h \
	packer/ini_file.c packer/ini_file.h \
	packer/journal.c packer/journal.h \
	packer/mono.c packer/mono.h \
	packer/bill.c packer/bill.h packer/bill_parts.h \
	packer/bill_divide.c \
	packer/bill_interval.c \
	packer/bill_state.c \
	packer/energy.c packer/energy.h \
	packer/energy_hwmon.c \
	packer/energy_model.c \
	packer/energy_parts.c packer/energy_parts.h \
	packer/energy_perf.c \
	packer/energy_powercap.c \
	packer/energy_sampler.c packer/energy_sampler.h \
	packer/energy_watts.c packer/energy_watts.h \
	packer/ledger.h \
	packer/learn.c packer/learn.h \
	packer/ledger.c \
	packer/ledger_deliver.c packer/ledger_deliver.h \
	packer/ledger_line.c packer/ledger_line.h \
	packer/ledger_queue.c packer/ledger_queue.h \
	packer/ledger_read.c \
	packer/ledger_record.c packer/ledger_record.h \
	packer/ledger_schema.c packer/ledger_schema.h \
	packer/ledger_store.c packer/ledger_store.h \
	packer/lock_program.c packer/lock_program.h \
	packer/lock_time.c packer/lock_time.h \
	packer/log.c packer/log.h \
	packer/machine_profile.c packer/machine_profile.h \
	packer/machine_profile_fields.h \
	packer/machine_profile_read.c \
	packer/machine_profile_write.c \
	packer/machine_type.c packer/machine_type.h \
	packer/memory_follow.c packer/memory_follow.h \
	packer/memory_move.c packer/memory_move.h \
	packer/memory_nodes.c packer/memory_nodes.h \
	packer/memory_pages.c packer/memory_pages.h \
	packer/memory_ranges.c packer/memory_ranges.h \
	packer/metrics.c packer/metrics.h \
	packer/metrics_address.c packer/metrics_address.h \
	packer/metrics_caches.c \
	packer/metrics_families.c \
	packer/metrics_file.c packer/metrics_file.h \
	packer/metrics_http.c packer/metrics_http.h \
	packer/metrics_listen.c packer/metrics_listen.h \
	packer/metrics_steps.c \
	packer/metrics_text.c packer/metrics_text.h \
	packer/node_power.c packer/node_power.h \
	packer/observe.c packer/observe.h \
	packer/offline.c packer/offline.h \
	packer/open.h \
	packer/packer.c packer/packer.h \
	packer/pipeline.c packer/pipeline.h \
	packer/perf_cgroup.c packer/perf_cgroup.h \
	packer/perf_events.c packer/perf_events.h \
	packer/perf_group.c packer/perf_group.h \
	packer/perf_open.c packer/perf_open.h \
	packer/perf_plan.c packer/perf_plan.h \
	packer/perf_ring.c packer/perf_ring.h \
	packer/perf_scale.c packer/perf_scale.h \
	packer/place.c packer/place.h \
	packer/place_keep.c packer/place_keep.h \
	packer/place_policy.c packer/place_policy.h \
	packer/place_units.c packer/place_units.h \
	packer/pool.c packer/pool.h \
	packer/pool_marker.c packer/pool_marker.h \
	packer/probe.c packer/probe.h \
	packer/probe_estimate.c packer/probe_estimate.h \
	packer/proc_usage.c packer/proc_usage.h \
	packer/probing.c packer/probing.h \
	packer/profile_demand.c \
	packer/profile_key.c \
	packer/profile_sample.c \
	packer/profile_text.c \
	packer/profiles.c packer/profiles.h \
	packer/profiles_db.c packer/profiles_db.h \
	packer/program.c packer/program.h \
	packer/rates.c packer/rates.h \
	packer/registry.c packer/registry.h \
	packer/render.c packer/render.h \
	packer/report.c packer/report.h \
	packer/report_merge.c \
	packer/report_nodes.c packer/report_nodes.h \
	packer/report_words.c packer/report_words.h \
	packer/reporter.c packer/reporter.h \
	packer/render_bill.c packer/render_bill.h \
	packer/render_counts.c packer/render_counts.h \
	packer/render_sample.c packer/render_sample.h \
	packer/release.c packer/release.h \
	packer/replace.c packer/replace.h \
	packer/replay.c packer/replay.h \
	packer/resctrl_group.c packer/resctrl_group.h \
	packer/reuse.c packer/reuse.h \
	packer/reuse_sampler.c packer/reuse_sampler.h \
	packer/rootfs.c packer/rootfs.h \
	packer/sample.c packer/sample.h \
	packer/samples.c packer/samples.h \
	packer/server.c packer/server.h \
	packer/settle.c packer/settle.h \
	packer/settle_figures.c packer/settle_figures.h \
	packer/settle_list.c packer/settle_list.h \
	packer/settle_run.c packer/settle_run.h \
	packer/share.c packer/share.h \
	packer/size.c packer/size.h \
	packer/size_model.c packer/size_model.h \
	packer/sql.c packer/sql.h \
	packer/sql_sqlite.c \
	packer/sql_way.h \
	packer/stand.c packer/stand.h \
	packer/step_cgroup.c packer/step_cgroup.h \
	packer/step_counts.c packer/step_counts.h \
	packer/step_size.c packer/step_size.h \
	packer/step_usage.c packer/step_usage.h \
	packer/store.c packer/store.h \
	packer/tally.c packer/tally.h \
	packer/taskstats.c packer/taskstats.h \
	packer/topo.c packer/topo.h \
	packer/unix_socket.c packer/unix_socket.h \
	packer/watchpoint.c packer/watchpoint.h
if MARIADB
libpacker_la_SOURCES += packer/sql_mariadb.c
else
libpacker_la_SOURCES += packer/sql_nomariadb.c
endif
libpacker_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(EVENT_CFLAGS) $(EVENT_EXTRA_CFLAGS) \
	$(INIH_CFLAGS) $(SQLITE_CFLAGS) $(MARIADB_CFLAGS) $(NUMA_CFLAGS) $(PFM_CFLAGS) \
	-DPKGLIBEXECDIR=\"$(pkglibexecdir)\"
libpacker_la_LIBADD = libwire.la libmodels.la $(HWLOC_LIBS) $(JSONC_LIBS) $(EVENT_EXTRA_LIBS) $(EVENT_LIBS) \
	$(INIH_LIBS) $(SQLITE_LIBS) $(MARIADB_LIBS) $(NUMA_LIBS) $(PFM_LIBS) -lpthread -lm

sbin_PROGRAMS += berthd
berthd_SOURCES = packer/berthd.c
berthd_CPPFLAGS = $(libpacker_la_CPPFLAGS)
berthd_LDADD = libpacker.la

# What steps cost: rows, totals and the page of berthctl report.
noinst_LTLIBRARIES += libreport.la
libreport_la_SOURCES = \
	packer/report_cell.c \
	packer/report_fields.c packer/report_fields.h \
	packer/report_html.c packer/report_html.h packer/report_html_impl.h \
	packer/report_html_bars.c \
	packer/report_html_map.c \
	packer/report_html_style.c \
	packer/report_html_text.c \
	packer/report_put.c packer/report_put.h \
	packer/report_time.c packer/report_time.h
libreport_la_CPPFLAGS = $(libpacker_la_CPPFLAGS)
libreport_la_LIBADD = libpacker.la

bin_PROGRAMS += berthctl
berthctl_SOURCES = packer/berthctl.c packer/ctl.c packer/ctl.h \
	packer/cachesim.h packer/cachesim_setup.c \
	packer/calibrate.c packer/calibrate.h \
	packer/calibrate_fit.c packer/calibrate_fit.h \
	packer/calibrate_places.c packer/calibrate_places.h \
	packer/calibrate_run.c packer/calibrate_run.h \
	packer/ctl_apps.c packer/ctl_apps.h \
	packer/ctl_calibrate.c packer/ctl_calibrate.h \
	packer/ctl_calibrate_print.c \
	packer/ctl_client.c \
	packer/ctl_doctor.c \
	packer/ctl_explain.c \
	packer/ctl_release.c \
	packer/ctl_report.c packer/ctl_report.h \
	packer/ctl_report_args.c \
	packer/ctl_input.c packer/ctl_input.h \
	packer/ctl_matrix.c packer/ctl_matrix.h \
	packer/ctl_model.c packer/ctl_models.h \
	packer/ctl_model_contend.c \
	packer/ctl_model_di.c \
	packer/ctl_model_dramon.c \
	packer/ctl_model_edp.c \
	packer/ctl_model_flexthread.c \
	packer/ctl_model_matching.c \
	packer/ctl_model_nucore.c \
	packer/ctl_model_pairs.c \
	packer/ctl_numa.c packer/ctl_numa.h \
	packer/ctl_options.c packer/ctl_options.h \
	packer/ctl_pairs.c packer/ctl_pairs.h \
	packer/ctl_plan.c packer/ctl_plan.h \
	packer/ctl_plan_policy.c \
	packer/ctl_plan_print.c \
	packer/ctl_plan_read.c \
	packer/ctl_plan_samples.c \
	packer/ctl_print.c \
	packer/ctl_profile.c packer/ctl_profile.h \
	packer/ctl_profile_args.c \
	packer/ctl_profile_print.c \
	packer/ctl_profile_store.c packer/ctl_profile_store.h \
	packer/ctl_profile_transfer.c \
	packer/ctl_profile_verb.c \
	packer/ctl_record.c \
	packer/ctl_status.c \
	packer/ctl_top.c \
	packer/doctor.h \
	packer/doctor_hardware.c \
	packer/doctor_ledger.c \
	packer/doctor_rows.c \
	packer/doctor_slurm.c \
	packer/plan.c packer/plan.h \
	packer/record_file.c packer/record_file.h \
	packer/recording.c packer/recording.h \
	packer/tracer.c packer/tracer.h \
	packer/tracer_area.h \
	packer/tracer_tool.c packer/tracer_tool.h
berthctl_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(PFM_CFLAGS) -DVALGRIND=\"$(VALGRIND)\" \
	-DVALGRIND_FOLDER=\"valgrind\" -DVALGRIND_TOOL=\"$(VALGRIND_FILE)\"
berthctl_LDADD = libreport.la libpacker.la $(PFM_LIBS) -lpthread
