# SPDX-License-Identifier: GPL-2.0-or-later
# libberth_tasks: tasks for programs that want them, with libc and what it needs of the papers' models.
noinst_LTLIBRARIES += libtasks.la
libtasks_la_SOURCES = $(tasks_sources)
lib_LTLIBRARIES += libberth_tasks.la
tasks_sources = \
	blackboard/berth_blackboard.h blackboard/layout.h blackboard/reader.c \
	models/tasks/locality.c models/tasks/locality.h \
	models/tasks/threshold.c models/tasks/threshold.h \
	runtime/cohort.c runtime/cohort.h runtime/contention.c runtime/contention.h runtime/crowd.c runtime/crowd.h runtime/futex.h runtime/rt.c runtime/rt.h runtime/said.c runtime/said.h \
	tasks/berth_mutex.h \
	tasks/berth_tasks.h \
	tasks/create.c tasks/create.h \
	tasks/deal.c tasks/deal.h \
	tasks/deque.c tasks/deque.h \
	tasks/forks.c tasks/forks.h \
	tasks/groups.c \
	tasks/idle.c tasks/idle.h \
	tasks/memory.c tasks/memory.h \
	tasks/moves.c tasks/moves.h \
	tasks/mutex.c tasks/mutex.h \
	tasks/objects.c tasks/objects.h \
	tasks/places.c tasks/places.h \
	tasks/pool.c tasks/pool.h \
	tasks/queues.c tasks/queues.h \
	tasks/record.h \
	tasks/rest.c tasks/rest.h \
	tasks/standing.c tasks/standing.h \
	tasks/steal.c tasks/steal.h \
	tasks/tasks.c \
	tasks/wake.c tasks/wake.h \
	tasks/worker.c tasks/worker.h
libberth_tasks_la_SOURCES = $(tasks_sources)
libberth_tasks_la_LDFLAGS = -version-info 0:0:0 -Wl,--version-script=$(srcdir)/tasks/exports.map
libberth_tasks_la_LIBADD = -lpthread
libberth_tasks_la_DEPENDENCIES = $(srcdir)/tasks/exports.map
include_HEADERS += tasks/berth_mutex.h tasks/berth_tasks.h
nodist_pkgconfig_DATA += tasks/berth-tasks.pc
EXTRA_DIST += tasks/exports.map tasks/berth-tasks.pc.in
CLEANFILES += tasks/berth-tasks.pc
