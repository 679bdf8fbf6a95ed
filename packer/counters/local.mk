# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/counters/by_node.c packer/counters/by_node.h \
	packer/counters/counter_info.c packer/counters/counter_info.h \
	packer/counters/counters.c packer/counters/counters.h \
	packer/counters/lock_program.c packer/counters/lock_program.h \
	packer/counters/lock_time.c packer/counters/lock_time.h \
	packer/counters/maps_reader.c packer/counters/maps_reader.h \
	packer/counters/thread_times.c packer/counters/thread_times.h \
	packer/counters/memory_events.c packer/counters/memory_events.h \
	packer/counters/perf.c \
	packer/counters/perf_cgroup.c packer/counters/perf_cgroup.h \
	packer/counters/perf_events.c packer/counters/perf_events.h \
	packer/counters/perf_group.c packer/counters/perf_group.h \
	packer/counters/perf_plan.c packer/counters/perf_plan.h \
	packer/counters/perf_scale.c packer/counters/perf_scale.h \
	packer/counters/process_sums.c packer/counters/process_sums.h \
	packer/counters/rates.c packer/counters/rates.h \
	packer/counters/recorded.c packer/counters/recorded.h \
	packer/counters/replay.c \
	packer/counters/resctrl.c \
	packer/counters/resctrl_caches.c packer/counters/resctrl_caches.h \
	packer/counters/resctrl_group.c packer/counters/resctrl_group.h \
	packer/counters/sample_line.c packer/counters/sample_line.h \
	packer/counters/software.c \
	packer/counters/stat_reader.c packer/counters/stat_reader.h \
	packer/counters/step_folder.c packer/counters/step_folder.h \
	packer/counters/step_usage.c packer/counters/step_usage.h \
	packer/counters/uncore.c
