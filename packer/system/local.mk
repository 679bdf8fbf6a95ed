# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/system/capabilities.c packer/system/capabilities.h \
	packer/system/cpu_busy.c packer/system/cpu_busy.h \
	packer/system/memory_nodes.c packer/system/memory_nodes.h \
	packer/system/perf_open.c packer/system/perf_open.h \
	packer/system/plugin_file.c packer/system/plugin_file.h \
	packer/system/process.c packer/system/process.h \
	packer/system/process_table.c packer/system/process_table.h \
	packer/system/process_watch.c packer/system/process_watch.h \
	packer/system/rootfs.c packer/system/rootfs.h \
	packer/system/run_program.c packer/system/run_program.h \
	packer/system/step_cgroup.c packer/system/step_cgroup.h \
	packer/system/taskstats.c packer/system/taskstats.h \
	packer/system/unix_socket.c packer/system/unix_socket.h \
	packer/system/urgency.c packer/system/urgency.h
