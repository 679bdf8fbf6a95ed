# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz targets: replay feeds each with what is stored for it and with mutations of that in `make check`; with --enable-fuzzing (CC=clang,
# together with --enable-sanitizers) there is also fuzzer, which looks for inputs. tests/fuzz/run builds and runs that.
fuzz_targets = tests/fuzz/conf.c tests/fuzz/cpuinfo.c tests/fuzz/dram.c tests/fuzz/event_table.c tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
	tests/fuzz/journal.c tests/fuzz/ledger_line.c tests/fuzz/machine_profile.c tests/fuzz/memory_origin.c tests/fuzz/metrics.c tests/fuzz/names.c \
	tests/fuzz/plugin.c tests/fuzz/plugin_file.c tests/fuzz/proc.c tests/fuzz/profile_demand.c tests/fuzz/profile_text.c tests/fuzz/queue.c \
	tests/fuzz/said.c tests/fuzz/samples.c tests/fuzz/selftest.c tests/fuzz/server.c tests/fuzz/settle.c tests/fuzz/steer.c tests/fuzz/targets.def tests/fuzz/taskstats.c tests/fuzz/topology.c \
	tests/fuzz/users.c tests/fuzz/wire.c plugin/bind.c plugin/devices.c plugin/options.c plugin/pin.c packer/settle/comment.c $(steer_parts)
TESTS += tests/fuzz/replay
check_PROGRAMS += tests/fuzz/replay
tests_fuzz_replay_SOURCES = tests/fuzz/replay.c $(fuzz_targets)
tests_fuzz_replay_LDFLAGS = -Wl,--wrap=getsockopt

if FUZZING
check_PROGRAMS += tests/fuzz/fuzzer
tests_fuzz_fuzzer_SOURCES = tests/fuzz/fuzzer.c $(fuzz_targets)
tests_fuzz_fuzzer_LDFLAGS = -fsanitize=fuzzer -Wl,--wrap=getsockopt
endif

dist_noinst_SCRIPTS += tests/fuzz/run tests/fuzz/test-run
EXTRA_DIST += tests/fuzz/fuzzer.c tests/fuzz/corpus
