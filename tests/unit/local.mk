# SPDX-License-Identifier: GPL-2.0-or-later

TESTS += tests/unit/test_conf
check_PROGRAMS += tests/unit/test_conf
tests_unit_test_conf_SOURCES = tests/unit/test_conf.c
tests_unit_test_conf_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_conf_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_file
check_PROGRAMS += tests/unit/test_file
tests_unit_test_file_SOURCES = tests/unit/test_file.c
tests_unit_test_file_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_file_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_text
check_PROGRAMS += tests/unit/test_text
tests_unit_test_text_SOURCES = tests/unit/test_text.c
tests_unit_test_text_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_text_LDADD = libwire.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_worker
check_PROGRAMS += tests/unit/test_worker
tests_unit_test_worker_SOURCES = tests/unit/test_worker.c
tests_unit_test_worker_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_worker_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_log
check_PROGRAMS += tests/unit/test_log
tests_unit_test_log_SOURCES = tests/unit/test_log.c
tests_unit_test_log_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_log_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_options
check_PROGRAMS += tests/unit/test_options
tests_unit_test_options_SOURCES = tests/unit/test_options.c plugin/options.c plugin/options.h
tests_unit_test_options_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_options_LDADD = libwire.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_berthctl.sh
EXTRA_DIST += tests/unit/test_berthctl.sh
check_PROGRAMS += tests/unit/fake_berthd
tests_unit_fake_berthd_SOURCES = tests/unit/fake_berthd.c

TESTS += tests/unit/test_pool
check_PROGRAMS += tests/unit/test_pool
tests_unit_test_pool_SOURCES = tests/unit/test_pool.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_pool_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pool_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_place
check_PROGRAMS += tests/unit/test_place
tests_unit_test_place_SOURCES = tests/unit/test_place.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_place_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_place_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/check-layers
EXTRA_DIST += tests/check-layers

TESTS += tests/unit/test_di
check_PROGRAMS += tests/unit/test_di
tests_unit_test_di_SOURCES = tests/unit/test_di.c
tests_unit_test_di_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_di_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_cpus
check_PROGRAMS += tests/unit/test_cpus
tests_unit_test_cpus_SOURCES = tests/unit/test_cpus.c
tests_unit_test_cpus_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cpus_LDADD = libwire.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_topo
check_PROGRAMS += tests/unit/test_topo
tests_unit_test_topo_SOURCES = tests/unit/test_topo.c
tests_unit_test_topo_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_topo_LDADD = libpacker.la $(CMOCKA_LIBS)
EXTRA_DIST += tests/fixtures/topologies/uneven.xml

TESTS += tests/unit/test_ctl_model.sh tests/unit/test_ctl_plan.sh
EXTRA_DIST += tests/unit/test_ctl_model.sh tests/unit/test_ctl_plan.sh tests/unit/ctl_check.sh

TESTS += tests/unit/test_pipeline
check_PROGRAMS += tests/unit/test_pipeline
tests_unit_test_pipeline_SOURCES = tests/unit/test_pipeline.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_pipeline_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pipeline_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_job_watch
check_PROGRAMS += tests/unit/test_job_watch
tests_unit_test_job_watch_SOURCES = tests/unit/test_job_watch.c
tests_unit_test_job_watch_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_job_watch_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_hold
check_PROGRAMS += tests/unit/test_hold
tests_unit_test_hold_SOURCES = tests/unit/test_hold.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_hold_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_hold_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_offline
check_PROGRAMS += tests/unit/test_offline
tests_unit_test_offline_SOURCES = tests/unit/test_offline.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_offline_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_offline_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_release
check_PROGRAMS += tests/unit/test_release
tests_unit_test_release_SOURCES = tests/unit/test_release.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_release_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_release_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_json
check_PROGRAMS += tests/unit/test_json
tests_unit_test_json_SOURCES = tests/unit/test_json.c
tests_unit_test_json_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_json_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_json_fields
check_PROGRAMS += tests/unit/test_json_fields
tests_unit_test_json_fields_SOURCES = tests/unit/test_json_fields.c
tests_unit_test_json_fields_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_json_fields_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_error
check_PROGRAMS += tests/unit/test_error
tests_unit_test_error_SOURCES = tests/unit/test_error.c
tests_unit_test_error_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_error_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_wire
check_PROGRAMS += tests/unit/test_wire
tests_unit_test_wire_SOURCES = tests/unit/test_wire.c
tests_unit_test_wire_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wire_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_wire_names
check_PROGRAMS += tests/unit/test_wire_names
tests_unit_test_wire_names_SOURCES = tests/unit/test_wire_names.c
tests_unit_test_wire_names_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wire_names_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_registry
check_PROGRAMS += tests/unit/test_registry
tests_unit_test_registry_SOURCES = tests/unit/test_registry.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_registry_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_registry_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_store
check_PROGRAMS += tests/unit/test_store
tests_unit_test_store_SOURCES = tests/unit/test_store.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_store_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_store_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_cachesim
check_PROGRAMS += tests/unit/test_cachesim
tests_unit_test_cachesim_SOURCES = tests/unit/test_cachesim.c packer/cachesim.c packer/cachesim_setup.c
tests_unit_test_cachesim_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cachesim_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_profiles
check_PROGRAMS += tests/unit/test_profiles
tests_unit_test_profiles_SOURCES = tests/unit/test_profiles.c tests/unit/profile_store.c tests/unit/profile_store.h
tests_unit_test_profiles_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profiles_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_profiles_db
check_PROGRAMS += tests/unit/test_profiles_db
tests_unit_test_profiles_db_SOURCES = tests/unit/test_profiles_db.c tests/unit/profile_store.c tests/unit/profile_store.h
tests_unit_test_profiles_db_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profiles_db_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_profile_sample
check_PROGRAMS += tests/unit/test_profile_sample
tests_unit_test_profile_sample_SOURCES = tests/unit/test_profile_sample.c tests/unit/profile_store.c tests/unit/profile_store.h
tests_unit_test_profile_sample_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profile_sample_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_profile_text
check_PROGRAMS += tests/unit/test_profile_text
tests_unit_test_profile_text_SOURCES = tests/unit/test_profile_text.c tests/unit/profile_store.c tests/unit/profile_store.h
tests_unit_test_profile_text_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profile_text_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_profile_key
check_PROGRAMS += tests/unit/test_profile_key
tests_unit_test_profile_key_SOURCES = tests/unit/test_profile_key.c tests/unit/profile_store.c tests/unit/profile_store.h
tests_unit_test_profile_key_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profile_key_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_machine_type
check_PROGRAMS += tests/unit/test_machine_type
tests_unit_test_machine_type_SOURCES = tests/unit/test_machine_type.c
tests_unit_test_machine_type_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_machine_type_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_wire_shape
check_PROGRAMS += tests/unit/test_wire_shape
tests_unit_test_wire_shape_SOURCES = tests/unit/test_wire_shape.c
tests_unit_test_wire_shape_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wire_shape_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_profile_store.sh
EXTRA_DIST += tests/unit/test_ctl_profile_store.sh

# Programs to be profiled: without sanitizers, which do not run under valgrind.
TESTS += tests/unit/test_ctl_profile.sh
EXTRA_DIST += tests/unit/test_ctl_profile.sh
check_PROGRAMS += tests/fixtures/programs/devil tests/fixtures/programs/reuse tests/fixtures/programs/turtle
tests_fixtures_programs_reuse_SOURCES = tests/fixtures/programs/reuse.c
tests_fixtures_programs_reuse_CFLAGS = -O2
tests_fixtures_programs_reuse_LDADD = -lpthread
tests_fixtures_programs_devil_SOURCES = tests/fixtures/programs/devil.c
tests_fixtures_programs_devil_CFLAGS = -O2
tests_fixtures_programs_turtle_SOURCES = tests/fixtures/programs/turtle.c
tests_fixtures_programs_turtle_CFLAGS = -O2

TESTS += tests/unit/test_rootfs
check_PROGRAMS += tests/unit/test_rootfs
tests_unit_test_rootfs_SOURCES = tests/unit/test_rootfs.c
tests_unit_test_rootfs_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rootfs_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_enforce_tasks
check_PROGRAMS += tests/unit/test_enforce_tasks
tests_unit_test_enforce_tasks_SOURCES = tests/unit/test_enforce_tasks.c tests/unit/steps.c tests/unit/steps.h
tests_unit_test_enforce_tasks_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_enforce_tasks_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_enforce_cgroup1
check_PROGRAMS += tests/unit/test_enforce_cgroup1
tests_unit_test_enforce_cgroup1_SOURCES = tests/unit/test_enforce_cgroup1.c tests/unit/steps.c tests/unit/steps.h
tests_unit_test_enforce_cgroup1_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_enforce_cgroup1_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_classify
check_PROGRAMS += tests/unit/test_classify
tests_unit_test_classify_SOURCES = tests/unit/test_classify.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_classify_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_classify_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_observe
check_PROGRAMS += tests/unit/test_observe
tests_unit_test_observe_SOURCES = tests/unit/test_observe.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_observe_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_observe_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_render
check_PROGRAMS += tests/unit/test_render
tests_unit_test_render_SOURCES = tests/unit/test_render.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_render_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_render_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_answer
check_PROGRAMS += tests/unit/test_answer
tests_unit_test_answer_SOURCES = tests/unit/test_answer.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_answer_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_answer_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_journal
check_PROGRAMS += tests/unit/test_journal
tests_unit_test_journal_SOURCES = tests/unit/test_journal.c tests/unit/steps.c tests/unit/steps.h
tests_unit_test_journal_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_journal_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_enforce
check_PROGRAMS += tests/unit/test_enforce
tests_unit_test_enforce_SOURCES = tests/unit/test_enforce.c tests/unit/steps.c tests/unit/steps.h
tests_unit_test_enforce_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_enforce_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_enforce_cgroup2
check_PROGRAMS += tests/unit/test_enforce_cgroup2
tests_unit_test_enforce_cgroup2_SOURCES = tests/unit/test_enforce_cgroup2.c tests/unit/steps.c tests/unit/steps.h
tests_unit_test_enforce_cgroup2_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_enforce_cgroup2_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_server
check_PROGRAMS += tests/unit/test_server
tests_unit_test_server_SOURCES = tests/unit/test_server.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_server_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_server_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_admit
check_PROGRAMS += tests/unit/test_admit
tests_unit_test_admit_SOURCES = tests/unit/test_admit.c
tests_unit_test_admit_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_admit_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_animal
check_PROGRAMS += tests/unit/test_animal
tests_unit_test_animal_SOURCES = tests/unit/test_animal.c
tests_unit_test_animal_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_animal_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_dio_power
check_PROGRAMS += tests/unit/test_dio_power
tests_unit_test_dio_power_SOURCES = tests/unit/test_dio_power.c tests/unit/machine.c tests/unit/machine.h
tests_unit_test_dio_power_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_dio_power_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_edp
check_PROGRAMS += tests/unit/test_edp
tests_unit_test_edp_SOURCES = tests/unit/test_edp.c
tests_unit_test_edp_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_edp_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_isolate
check_PROGRAMS += tests/unit/test_isolate
tests_unit_test_isolate_SOURCES = tests/unit/test_isolate.c tests/unit/machine.c tests/unit/machine.h
tests_unit_test_isolate_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_isolate_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_missrate
check_PROGRAMS += tests/unit/test_missrate
tests_unit_test_missrate_SOURCES = tests/unit/test_missrate.c
tests_unit_test_missrate_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_missrate_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_pain
check_PROGRAMS += tests/unit/test_pain
tests_unit_test_pain_SOURCES = tests/unit/test_pain.c
tests_unit_test_pain_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pain_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_sdc
check_PROGRAMS += tests/unit/test_sdc
tests_unit_test_sdc_SOURCES = tests/unit/test_sdc.c
tests_unit_test_sdc_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sdc_LDADD = libmodels.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_apps
check_PROGRAMS += tests/unit/test_ctl_apps
tests_unit_test_ctl_apps_SOURCES = tests/unit/test_ctl_apps.c packer/ctl_apps.c packer/ctl_input.c
tests_unit_test_ctl_apps_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ctl_apps_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_options
check_PROGRAMS += tests/unit/test_ctl_options
tests_unit_test_ctl_options_SOURCES = tests/unit/test_ctl_options.c packer/ctl_options.c packer/ctl.c packer/ctl_print.c
tests_unit_test_ctl_options_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ctl_options_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_pairs
check_PROGRAMS += tests/unit/test_ctl_pairs
tests_unit_test_ctl_pairs_SOURCES = tests/unit/test_ctl_pairs.c packer/ctl_pairs.c
tests_unit_test_ctl_pairs_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ctl_pairs_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_matching
check_PROGRAMS += tests/unit/test_matching
tests_unit_test_matching_SOURCES = tests/unit/test_matching.c
tests_unit_test_matching_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_matching_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_plan
check_PROGRAMS += tests/unit/test_plan
tests_unit_test_plan_SOURCES = tests/unit/test_plan.c packer/plan.c packer/plan.h
tests_unit_test_plan_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_plan_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_partition
check_PROGRAMS += tests/unit/test_partition
tests_unit_test_partition_SOURCES = tests/unit/test_partition.c
tests_unit_test_partition_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_partition_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_contend
check_PROGRAMS += tests/unit/test_contend
tests_unit_test_contend_SOURCES = tests/unit/test_contend.c
tests_unit_test_contend_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_contend_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_ctl_model_contend
check_PROGRAMS += tests/unit/test_ctl_model_contend
tests_unit_test_ctl_model_contend_SOURCES = tests/unit/test_ctl_model_contend.c \
	packer/ctl_model_contend.c packer/ctl_apps.c packer/ctl_input.c packer/ctl_pairs.c
tests_unit_test_ctl_model_contend_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ctl_model_contend_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_model_matching.sh
EXTRA_DIST += tests/unit/test_ctl_model_matching.sh

TESTS += tests/unit/test_dramon
check_PROGRAMS += tests/unit/test_dramon
tests_unit_test_dramon_SOURCES = tests/unit/test_dramon.c
tests_unit_test_dramon_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_dramon_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_flexthread
check_PROGRAMS += tests/unit/test_flexthread
tests_unit_test_flexthread_SOURCES = tests/unit/test_flexthread.c
tests_unit_test_flexthread_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_flexthread_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_ctl_model_dramon.sh tests/unit/test_ctl_model_flexthread.sh
EXTRA_DIST += tests/unit/test_ctl_model_dramon.sh tests/unit/test_ctl_model_flexthread.sh

TESTS += tests/unit/test_machine_profile
check_PROGRAMS += tests/unit/test_machine_profile
tests_unit_test_machine_profile_SOURCES = tests/unit/test_machine_profile.c
tests_unit_test_machine_profile_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_machine_profile_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_packer
check_PROGRAMS += tests/unit/test_packer
tests_unit_test_packer_SOURCES = tests/unit/test_packer.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_packer_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_packer_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_calibrate_fit
check_PROGRAMS += tests/unit/test_calibrate_fit
tests_unit_test_calibrate_fit_SOURCES = tests/unit/test_calibrate_fit.c packer/calibrate_fit.c
tests_unit_test_calibrate_fit_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_calibrate_fit_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_calibrate_run
check_PROGRAMS += tests/unit/test_calibrate_run
tests_unit_test_calibrate_run_SOURCES = tests/unit/test_calibrate_run.c packer/calibrate_run.c
tests_unit_test_calibrate_run_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_calibrate_run_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_calibrate
check_PROGRAMS += tests/unit/test_calibrate
tests_unit_test_calibrate_SOURCES = tests/unit/test_calibrate.c packer/calibrate.c packer/calibrate_fit.c \
	packer/calibrate_places.c packer/calibrate_run.c
tests_unit_test_calibrate_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_calibrate_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_ctl_calibrate.sh
EXTRA_DIST += tests/unit/test_ctl_calibrate.sh

TESTS += tests/unit/test_numem
check_PROGRAMS += tests/unit/test_numem
tests_unit_test_numem_SOURCES = tests/unit/test_numem.c tests/bench/numa_paper.c tests/bench/numa_random.c
tests_unit_test_numem_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(GLPK_CFLAGS)
tests_unit_test_numem_LDADD = libmodels.la $(CMOCKA_LIBS) $(GLPK_LIBS) -lm

TESTS += tests/unit/test_nucore
check_PROGRAMS += tests/unit/test_nucore
tests_unit_test_nucore_SOURCES = tests/unit/test_nucore.c tests/bench/numa_paper.c tests/bench/numa_random.c
tests_unit_test_nucore_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(GLPK_CFLAGS)
tests_unit_test_nucore_LDADD = libmodels.la $(CMOCKA_LIBS) $(GLPK_LIBS) -lm

TESTS += tests/unit/test_ctl_model_nucore.sh
EXTRA_DIST += tests/unit/test_ctl_model_nucore.sh

TESTS += tests/unit/test_size
check_PROGRAMS += tests/unit/test_size
tests_unit_test_size_SOURCES = tests/unit/test_size.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_size_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_size_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_size_model
check_PROGRAMS += tests/unit/test_size_model
tests_unit_test_size_model_SOURCES = tests/unit/test_size_model.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_size_model_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_size_model_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_step_size
check_PROGRAMS += tests/unit/test_step_size
tests_unit_test_step_size_SOURCES = tests/unit/test_step_size.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_step_size_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_step_size_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_unix_socket
check_PROGRAMS += tests/unit/test_unix_socket
tests_unit_test_unix_socket_SOURCES = tests/unit/test_unix_socket.c
tests_unit_test_unix_socket_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_unix_socket_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_profile_demand
check_PROGRAMS += tests/unit/test_profile_demand
tests_unit_test_profile_demand_SOURCES = tests/unit/test_profile_demand.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_profile_demand_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profile_demand_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_figure3.sh
EXTRA_DIST += tests/unit/test_figure3.sh

TESTS += tests/unit/test_rate
check_PROGRAMS += tests/unit/test_rate
tests_unit_test_rate_SOURCES = tests/unit/test_rate.c tests/unit/noise.h
tests_unit_test_rate_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rate_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_statstack
check_PROGRAMS += tests/unit/test_statstack
tests_unit_test_statstack_SOURCES = tests/unit/test_statstack.c tests/unit/noise.h
tests_unit_test_statstack_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_statstack_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_phase
check_PROGRAMS += tests/unit/test_phase
tests_unit_test_phase_SOURCES = tests/unit/test_phase.c tests/unit/noise.h
tests_unit_test_phase_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_phase_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_counters_resctrl
check_PROGRAMS += tests/unit/test_counters_resctrl
tests_unit_test_counters_resctrl_SOURCES = tests/unit/test_counters_resctrl.c
tests_unit_test_counters_resctrl_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_counters_resctrl_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_samples
check_PROGRAMS += tests/unit/test_samples
tests_unit_test_samples_SOURCES = tests/unit/test_samples.c
tests_unit_test_samples_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_samples_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_replay
check_PROGRAMS += tests/unit/test_replay
tests_unit_test_replay_SOURCES = tests/unit/test_replay.c
tests_unit_test_replay_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_replay_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_counters_replay
check_PROGRAMS += tests/unit/test_counters_replay
tests_unit_test_counters_replay_SOURCES = tests/unit/test_counters_replay.c
tests_unit_test_counters_replay_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_counters_replay_LDADD = libpacker.la $(CMOCKA_LIBS)
EXTRA_DIST += tests/fixtures/samples/software.jsonl tests/fixtures/samples/three.csv tests/fixtures/samples/three.jsonl

TESTS += tests/unit/test_rates
check_PROGRAMS += tests/unit/test_rates
tests_unit_test_rates_SOURCES = tests/unit/test_rates.c
tests_unit_test_rates_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rates_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_busy
check_PROGRAMS += tests/unit/test_busy
tests_unit_test_busy_SOURCES = tests/unit/test_busy.c
tests_unit_test_busy_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_busy_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_sample
check_PROGRAMS += tests/unit/test_sample
tests_unit_test_sample_SOURCES = tests/unit/test_sample.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_sample_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sample_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_learn
check_PROGRAMS += tests/unit/test_learn
tests_unit_test_learn_SOURCES = tests/unit/test_learn.c
tests_unit_test_learn_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_learn_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_counters_software
check_PROGRAMS += tests/unit/test_counters_software
tests_unit_test_counters_software_SOURCES = tests/unit/test_counters_software.c
tests_unit_test_counters_software_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_counters_software_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_lock_time
check_PROGRAMS += tests/unit/test_lock_time
tests_unit_test_lock_time_SOURCES = tests/unit/test_lock_time.c
tests_unit_test_lock_time_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_lock_time_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_ctl_record.sh
EXTRA_DIST += tests/unit/test_ctl_record.sh

TESTS += tests/unit/test_probe
check_PROGRAMS += tests/unit/test_probe
tests_unit_test_probe_SOURCES = tests/unit/test_probe.c
tests_unit_test_probe_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_probe_estimate
check_PROGRAMS += tests/unit/test_probe_estimate
tests_unit_test_probe_estimate_SOURCES = tests/unit/test_probe_estimate.c
tests_unit_test_probe_estimate_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_estimate_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_reporter
check_PROGRAMS += tests/unit/test_reporter
tests_unit_test_reporter_SOURCES = tests/unit/test_reporter.c
tests_unit_test_reporter_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_reporter_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_plan_samples
check_PROGRAMS += tests/unit/test_ctl_plan_samples
tests_unit_test_ctl_plan_samples_SOURCES = tests/unit/test_ctl_plan_samples.c packer/ctl_plan_samples.c packer/ctl_print.c
tests_unit_test_ctl_plan_samples_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ctl_plan_samples_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_perf_scale
check_PROGRAMS += tests/unit/test_perf_scale
tests_unit_test_perf_scale_SOURCES = tests/unit/test_perf_scale.c
tests_unit_test_perf_scale_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_scale_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_perf_events
check_PROGRAMS += tests/unit/test_perf_events
tests_unit_test_perf_events_SOURCES = tests/unit/test_perf_events.c
tests_unit_test_perf_events_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_events_LDADD = libpacker.la $(CMOCKA_LIBS) $(PFM_LIBS)

TESTS += tests/unit/test_perf_plan
check_PROGRAMS += tests/unit/test_perf_plan
tests_unit_test_perf_plan_SOURCES = tests/unit/test_perf_plan.c
tests_unit_test_perf_plan_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_plan_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_perf_cgroup
check_PROGRAMS += tests/unit/test_perf_cgroup
tests_unit_test_perf_cgroup_SOURCES = tests/unit/test_perf_cgroup.c tests/unit/perf_box.c tests/unit/perf_box.h \
	tests/unit/steps.c tests/unit/steps.h
tests_unit_test_perf_cgroup_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_cgroup_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_perf_group
check_PROGRAMS += tests/unit/test_perf_group
tests_unit_test_perf_group_SOURCES = tests/unit/test_perf_group.c tests/unit/perf_box.c tests/unit/perf_box.h \
	tests/unit/steps.c tests/unit/steps.h
tests_unit_test_perf_group_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_group_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_counters_perf
check_PROGRAMS += tests/unit/test_counters_perf
tests_unit_test_counters_perf_SOURCES = tests/unit/test_counters_perf.c tests/unit/perf_box.c tests/unit/perf_box.h
tests_unit_test_counters_perf_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_counters_perf_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_memory_nodes
check_PROGRAMS += tests/unit/test_memory_nodes
tests_unit_test_memory_nodes_SOURCES = tests/unit/test_memory_nodes.c
tests_unit_test_memory_nodes_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_memory_nodes_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_proc_usage
check_PROGRAMS += tests/unit/test_proc_usage
tests_unit_test_proc_usage_SOURCES = tests/unit/test_proc_usage.c
tests_unit_test_proc_usage_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_proc_usage_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_step_cgroup
check_PROGRAMS += tests/unit/test_step_cgroup
tests_unit_test_step_cgroup_SOURCES = tests/unit/test_step_cgroup.c
tests_unit_test_step_cgroup_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_step_cgroup_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_step_usage
check_PROGRAMS += tests/unit/test_step_usage
tests_unit_test_step_usage_SOURCES = tests/unit/test_step_usage.c
tests_unit_test_step_usage_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_step_usage_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_tally
check_PROGRAMS += tests/unit/test_tally
tests_unit_test_tally_SOURCES = tests/unit/test_tally.c
tests_unit_test_tally_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tally_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_taskstats
check_PROGRAMS += tests/unit/test_taskstats
tests_unit_test_taskstats_SOURCES = tests/unit/test_taskstats.c
tests_unit_test_taskstats_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_taskstats_LDADD = libpacker.la $(CMOCKA_LIBS) -lpthread

TESTS += tests/unit/test_usage
check_PROGRAMS += tests/unit/test_usage
tests_unit_test_usage_SOURCES = tests/unit/test_usage.c
tests_unit_test_usage_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_usage_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_recording
check_PROGRAMS += tests/unit/test_recording
tests_unit_test_recording_SOURCES = tests/unit/test_recording.c packer/recording.c
tests_unit_test_recording_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_recording_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_render_sample
check_PROGRAMS += tests/unit/test_render_sample
tests_unit_test_render_sample_SOURCES = tests/unit/test_render_sample.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_render_sample_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_render_sample_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_profile_reuse
check_PROGRAMS += tests/unit/test_profile_reuse
tests_unit_test_profile_reuse_SOURCES = tests/unit/test_profile_reuse.c
tests_unit_test_profile_reuse_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profile_reuse_LDADD = $(JSONC_LIBS) $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_perf_ring
check_PROGRAMS += tests/unit/test_perf_ring
tests_unit_test_perf_ring_SOURCES = tests/unit/test_perf_ring.c
tests_unit_test_perf_ring_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_ring_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_watchpoint
check_PROGRAMS += tests/unit/test_watchpoint
tests_unit_test_watchpoint_SOURCES = tests/unit/test_watchpoint.c tests/unit/faulter.c tests/unit/faulter.h
tests_unit_test_watchpoint_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_watchpoint_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_dio
check_PROGRAMS += tests/unit/test_dio
tests_unit_test_dio_SOURCES = tests/unit/test_dio.c tests/unit/noise.h
tests_unit_test_dio_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_dio_LDADD = libmodels.la $(CMOCKA_LIBS) -lm
TESTS += tests/unit/test_address_source
check_PROGRAMS += tests/unit/test_address_source
tests_unit_test_address_source_SOURCES = tests/unit/test_address_source.c
tests_unit_test_address_source_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_address_source_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_reuse_sampler
check_PROGRAMS += tests/unit/test_reuse_sampler
tests_unit_test_reuse_sampler_SOURCES = tests/unit/test_reuse_sampler.c tests/unit/faulter.c tests/unit/faulter.h \
	tests/unit/noise.h tests/unit/perf_box.c tests/unit/perf_box.h
tests_unit_test_reuse_sampler_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_reuse_sampler_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_memory_pages
check_PROGRAMS += tests/unit/test_memory_pages
tests_unit_test_memory_pages_SOURCES = tests/unit/test_memory_pages.c tests/unit/numa_box.c tests/unit/numa_box.h
tests_unit_test_memory_pages_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_memory_pages_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_memory_move
check_PROGRAMS += tests/unit/test_memory_move
tests_unit_test_memory_move_SOURCES = tests/unit/test_memory_move.c tests/unit/numa_box.c tests/unit/numa_box.h
tests_unit_test_memory_move_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_memory_move_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_page_move
check_PROGRAMS += tests/unit/test_page_move
tests_unit_test_page_move_SOURCES = tests/unit/test_page_move.c
tests_unit_test_page_move_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_page_move_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_memory_follow
check_PROGRAMS += tests/unit/test_memory_follow
tests_unit_test_memory_follow_SOURCES = tests/unit/test_memory_follow.c tests/unit/fixture.c tests/unit/fixture.h \
	tests/unit/numa_box.c tests/unit/numa_box.h
tests_unit_test_memory_follow_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_memory_follow_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_isolation
check_PROGRAMS += tests/unit/test_isolation
tests_unit_test_isolation_SOURCES = tests/unit/test_isolation.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_isolation_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_isolation_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_replace
check_PROGRAMS += tests/unit/test_replace
tests_unit_test_replace_SOURCES = tests/unit/test_replace.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_replace_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_replace_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_share
check_PROGRAMS += tests/unit/test_share
tests_unit_test_share_SOURCES = tests/unit/test_share.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_share_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_share_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_enforce_jobs
check_PROGRAMS += tests/unit/test_enforce_jobs
tests_unit_test_enforce_jobs_SOURCES = tests/unit/test_enforce_jobs.c
tests_unit_test_enforce_jobs_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_enforce_jobs_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_attribute
check_PROGRAMS += tests/unit/test_attribute
tests_unit_test_attribute_SOURCES = tests/unit/test_attribute.c tests/unit/noise.h
tests_unit_test_attribute_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_attribute_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_bill
check_PROGRAMS += tests/unit/test_bill
tests_unit_test_bill_SOURCES = tests/unit/test_bill.c tests/unit/bill_box.c tests/unit/bill_box.h \
	tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_bill_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_bill_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_render_bill
check_PROGRAMS += tests/unit/test_render_bill
tests_unit_test_render_bill_SOURCES = tests/unit/test_render_bill.c tests/unit/bill_box.c tests/unit/bill_box.h \
	tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_render_bill_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_render_bill_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_nnls
check_PROGRAMS += tests/unit/test_nnls
tests_unit_test_nnls_SOURCES = tests/unit/test_nnls.c tests/unit/noise.h
tests_unit_test_nnls_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_nnls_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_cluster
check_PROGRAMS += tests/unit/test_cluster
tests_unit_test_cluster_SOURCES = tests/unit/test_cluster.c tests/unit/machine.c tests/unit/machine.h
tests_unit_test_cluster_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cluster_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_power
check_PROGRAMS += tests/unit/test_power
tests_unit_test_power_SOURCES = tests/unit/test_power.c
tests_unit_test_power_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_power_LDADD = libmodels.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_comment
check_PROGRAMS += tests/unit/test_comment
tests_unit_test_comment_SOURCES = tests/unit/test_comment.c accounting/comment.c
tests_unit_test_comment_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_comment_LDADD = libwire.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_sql
check_PROGRAMS += tests/unit/test_sql
tests_unit_test_sql_SOURCES = tests/unit/test_sql.c tests/unit/mariadb_box.c tests/unit/mariadb_box.h
tests_unit_test_sql_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sql_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_settle_figures
check_PROGRAMS += tests/unit/test_settle_figures
tests_unit_test_settle_figures_SOURCES = tests/unit/test_settle_figures.c
tests_unit_test_settle_figures_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_settle_figures_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_settle_list
check_PROGRAMS += tests/unit/test_settle_list
tests_unit_test_settle_list_SOURCES = tests/unit/test_settle_list.c
tests_unit_test_settle_list_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_settle_list_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_settle_run
check_PROGRAMS += tests/unit/test_settle_run
tests_unit_test_settle_run_SOURCES = tests/unit/test_settle_run.c
tests_unit_test_settle_run_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_settle_run_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy_parts
check_PROGRAMS += tests/unit/test_energy_parts
tests_unit_test_energy_parts_SOURCES = tests/unit/test_energy_parts.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_parts_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_parts_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy_powercap
check_PROGRAMS += tests/unit/test_energy_powercap
tests_unit_test_energy_powercap_SOURCES = tests/unit/test_energy_powercap.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_powercap_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_powercap_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy_perf
check_PROGRAMS += tests/unit/test_energy_perf
tests_unit_test_energy_perf_SOURCES = tests/unit/test_energy_perf.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_perf_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_perf_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy_hwmon
check_PROGRAMS += tests/unit/test_energy_hwmon
tests_unit_test_energy_hwmon_SOURCES = tests/unit/test_energy_hwmon.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_hwmon_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_hwmon_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy_model
check_PROGRAMS += tests/unit/test_energy_model
tests_unit_test_energy_model_SOURCES = tests/unit/test_energy_model.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_model_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_model_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy_sampler
check_PROGRAMS += tests/unit/test_energy_sampler
tests_unit_test_energy_sampler_SOURCES = tests/unit/test_energy_sampler.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_sampler_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_sampler_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_energy
check_PROGRAMS += tests/unit/test_energy
tests_unit_test_energy_SOURCES = tests/unit/test_energy.c tests/unit/meters.c tests/unit/meters.h
tests_unit_test_energy_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_LDADD = libpacker.la $(CMOCKA_LIBS)
EXTRA_DIST += tests/fixtures/meters

TESTS += tests/unit/test_energy_watts
check_PROGRAMS += tests/unit/test_energy_watts
tests_unit_test_energy_watts_SOURCES = tests/unit/test_energy_watts.c
tests_unit_test_energy_watts_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_energy_watts_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_place_power
check_PROGRAMS += tests/unit/test_place_power
tests_unit_test_place_power_SOURCES = tests/unit/test_place_power.c tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_place_power_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_place_power_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_metrics_text
check_PROGRAMS += tests/unit/test_metrics_text
tests_unit_test_metrics_text_SOURCES = tests/unit/test_metrics_text.c
tests_unit_test_metrics_text_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_metrics_text_LDADD = libpacker.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/ledger_fill
tests_unit_ledger_fill_SOURCES = tests/unit/ledger_fill.c
tests_unit_ledger_fill_CPPFLAGS = $(libpacker_la_CPPFLAGS)
tests_unit_ledger_fill_LDADD = libpacker.la

TESTS += tests/unit/test_report_time
check_PROGRAMS += tests/unit/test_report_time
tests_unit_test_report_time_SOURCES = tests/unit/test_report_time.c
tests_unit_test_report_time_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_report_time_LDADD = libreport.la $(CMOCKA_LIBS) -ldl

TESTS += tests/unit/test_report_format
check_PROGRAMS += tests/unit/test_report_format
tests_unit_test_report_format_SOURCES = tests/unit/test_report_format.c tests/unit/report_box.c tests/unit/report_box.h
tests_unit_test_report_format_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_report_format_LDADD = libreport.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_report_totals
check_PROGRAMS += tests/unit/test_report_totals
tests_unit_test_report_totals_SOURCES = tests/unit/test_report_totals.c tests/unit/report_box.c tests/unit/report_box.h
tests_unit_test_report_totals_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_report_totals_LDADD = libreport.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_report_html
check_PROGRAMS += tests/unit/test_report_html
tests_unit_test_report_html_SOURCES = tests/unit/test_report_html.c tests/unit/report_box.c tests/unit/report_box.h
tests_unit_test_report_html_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_report_html_LDADD = libreport.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ctl_report.sh tests/unit/test_ctl_report_page.sh
EXTRA_DIST += tests/unit/test_ctl_report.sh tests/unit/test_ctl_report_page.sh

TESTS += tests/unit/test_ledger
check_PROGRAMS += tests/unit/test_ledger
tests_unit_test_ledger_SOURCES = tests/unit/test_ledger.c tests/unit/ledger_box.c tests/unit/ledger_box.h \
	tests/unit/mariadb_box.c tests/unit/mariadb_box.h
tests_unit_test_ledger_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ledger_LDADD = libpacker.la $(CMOCKA_LIBS)
tests_unit_test_ledger_LDFLAGS = -Wl,--wrap=ledger_queue_append

TESTS += tests/unit/test_metrics
check_PROGRAMS += tests/unit/test_metrics
tests_unit_test_metrics_SOURCES = tests/unit/test_metrics.c tests/unit/metrics_page.c tests/unit/metrics_page.h \
	tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_metrics_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_metrics_LDADD = libpacker.la $(CMOCKA_LIBS) -lm

TESTS += tests/unit/test_metrics_listen
check_PROGRAMS += tests/unit/test_metrics_listen
tests_unit_test_metrics_listen_SOURCES = tests/unit/test_metrics_listen.c
tests_unit_test_metrics_listen_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_metrics_listen_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_metrics_http
check_PROGRAMS += tests/unit/test_metrics_http
tests_unit_test_metrics_http_SOURCES = tests/unit/test_metrics_http.c tests/unit/metrics_page.c \
	tests/unit/metrics_page.h tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_metrics_http_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_metrics_http_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_metrics_file
check_PROGRAMS += tests/unit/test_metrics_file
tests_unit_test_metrics_file_SOURCES = tests/unit/test_metrics_file.c tests/unit/metrics_page.c \
	tests/unit/metrics_page.h tests/unit/fixture.c tests/unit/fixture.h
tests_unit_test_metrics_file_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_metrics_file_LDADD = libpacker.la $(CMOCKA_LIBS)

# The dashboard, the samples for Prometheus, and a page of 200 steps as its tools read them.
TESTS += tests/unit/test_metrics_names.sh
EXTRA_DIST += tests/unit/test_metrics_names.sh contrib/grafana/berth.json contrib/prometheus/berth.yml \
	contrib/prometheus/berth-rules.yml

TESTS += tests/unit/test_settle
check_PROGRAMS += tests/unit/test_settle
tests_unit_test_settle_SOURCES = tests/unit/test_settle.c
tests_unit_test_settle_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_settle_LDADD = libpacker.la $(CMOCKA_LIBS)

TESTS += tests/unit/test_ledger_record
check_PROGRAMS += tests/unit/test_ledger_record
tests_unit_test_ledger_record_SOURCES = tests/unit/test_ledger_record.c tests/unit/fixture.c \
	tests/unit/fixture.h tests/unit/ledger_box.c tests/unit/ledger_box.h
tests_unit_test_ledger_record_CPPFLAGS = $(libpacker_la_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ledger_record_LDADD = libpacker.la $(CMOCKA_LIBS) -lm
