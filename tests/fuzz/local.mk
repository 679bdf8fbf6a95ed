# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz targets: replay feeds each with mutations of its seeds in `make check`; with --enable-fuzzing
# (CC=clang; together with --enable-sanitizers) there is a libFuzzer program for each, e.g.
# tests/fuzz/fuzz_wire_request CORPUS, begun by tests/fuzz/replay --seeds CORPUS wire_request.
TESTS += tests/fuzz/replay
check_PROGRAMS += tests/fuzz/replay
tests_fuzz_replay_SOURCES = tests/fuzz/conf.c tests/fuzz/event_table.c tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
	tests/fuzz/journal.c tests/fuzz/ledger_line.c tests/fuzz/machine_profile.c tests/fuzz/metrics.c tests/fuzz/names.c \
	tests/fuzz/profile_demand.c tests/fuzz/profile_text.c tests/fuzz/replay.c tests/fuzz/samples.c tests/fuzz/wire.c

EXTRA_DIST += tests/fuzz/libfuzzer.c
if FUZZING
check_PROGRAMS += tests/fuzz/fuzz_conf
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/conf.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_conf_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_conf
tests_fuzz_fuzz_conf_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_cpus
tests_fuzz_fuzz_cpus_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/names.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_cpus_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_cpus
tests_fuzz_fuzz_cpus_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_event_table
tests_fuzz_fuzz_event_table_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/event_table.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_event_table_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_event_table
tests_fuzz_fuzz_event_table_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_journal
tests_fuzz_fuzz_journal_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/journal.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_journal_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_journal
tests_fuzz_fuzz_journal_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_ledger_line
tests_fuzz_fuzz_ledger_line_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/ledger_line.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_ledger_line_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_ledger_line
tests_fuzz_fuzz_ledger_line_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_machine_profile
tests_fuzz_fuzz_machine_profile_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/machine_profile.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_machine_profile_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_machine_profile
tests_fuzz_fuzz_machine_profile_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_metrics_accept
tests_fuzz_fuzz_metrics_accept_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/metrics.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_metrics_accept_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_metrics_accept
tests_fuzz_fuzz_metrics_accept_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_metrics_address
tests_fuzz_fuzz_metrics_address_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/metrics.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_metrics_address_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_metrics_address
tests_fuzz_fuzz_metrics_address_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_metrics_label
tests_fuzz_fuzz_metrics_label_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/metrics.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_metrics_label_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_metrics_label
tests_fuzz_fuzz_metrics_label_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_profile_demand
tests_fuzz_fuzz_profile_demand_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/profile_demand.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_profile_demand_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_profile_demand
tests_fuzz_fuzz_profile_demand_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_profile_text
tests_fuzz_fuzz_profile_text_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/profile_text.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_profile_text_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_profile_text
tests_fuzz_fuzz_profile_text_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_samples
tests_fuzz_fuzz_samples_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/samples.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_samples_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_samples
tests_fuzz_fuzz_samples_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_step_name
tests_fuzz_fuzz_step_name_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/names.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_step_name_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_step_name
tests_fuzz_fuzz_step_name_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_wire_answer
tests_fuzz_fuzz_wire_answer_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/wire.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_wire_answer_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_wire_answer
tests_fuzz_fuzz_wire_answer_LDFLAGS = -fsanitize=fuzzer

check_PROGRAMS += tests/fuzz/fuzz_wire_request
tests_fuzz_fuzz_wire_request_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/wire.c tests/fuzz/fuzz.c
tests_fuzz_fuzz_wire_request_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_TARGET=fuzz_wire_request
tests_fuzz_fuzz_wire_request_LDFLAGS = -fsanitize=fuzzer
endif
