# SPDX-License-Identifier: GPL-2.0-or-later
# libberth_rt.so: what a step's programs have loaded before their libraries, where a word asks for it. libc and nothing else, and no
# sanitizers or counts of coverage: the programs it comes into have none.
noinst_LTLIBRARIES += libberth_rt.la
libberth_rt_la_SOURCES = \
	blackboard/berth_blackboard.h blackboard/layout.h blackboard/reader.c \
	runtime/barrier.c runtime/barrier.h \
	runtime/barrier_calls.c \
	runtime/callee.c runtime/callee.h \
	runtime/cancel.h \
	runtime/cohort.c runtime/cohort.h \
	runtime/cohorts.c runtime/cohorts.h \
	runtime/cond.c runtime/cond.h \
	runtime/cond_calls.c \
	runtime/crowd.c runtime/crowd.h \
	runtime/contention.c runtime/contention.h \
	runtime/elf.c runtime/elf.h \
	runtime/fork_call.S runtime/invoke.S \
	runtime/futex.h \
	runtime/hook.h \
	runtime/lines.c runtime/lines.h \
	runtime/loops.c \
	runtime/mutex.c runtime/mutex.h \
	runtime/next.h \
	runtime/nodes.c runtime/nodes.h \
	runtime/objects.c runtime/objects.h \
	runtime/openmp.c runtime/openmp.h \
	runtime/page.h \
	runtime/regions.c runtime/regions.h \
	runtime/rt.c runtime/rt.h \
	runtime/said.c runtime/said.h \
	runtime/spin.c \
	runtime/symbols.h \
	runtime/table.c runtime/table.h \
	runtime/task_calls.c \
	runtime/tasking.c runtime/tasking.h \
	runtime/tbb.c \
	runtime/throttle.c runtime/throttle.h \
	runtime/wrap.c runtime/wrap.h
libberth_rt_la_CPPFLAGS = -I$(top_srcdir) $(BERTH_PATHS)
libberth_rt_la_CFLAGS = $(RUNTIME_CFLAGS) -fvisibility=hidden
# A path for rpath makes libtool link a module out of what is not installed by it.
libberth_rt_la_LDFLAGS = -module -avoid-version -shared -rpath $(pkglibdir) -Wl,--version-script=$(srcdir)/runtime/exports.map -Wl,-z,now
libberth_rt_la_DEPENDENCIES = $(srcdir)/runtime/exports.map
EXTRA_DIST += runtime/exports.map

# The file gets its name when it is whole: programs that have the old one mapped keep it.
.PHONY: install-runtime uninstall-runtime
install-runtime: libberth_rt.la
	$(MKDIR_P) "$(DESTDIR)$(pkglibdir)"
	$(INSTALL_PROGRAM) .libs/libberth_rt.so "$(DESTDIR)$(pkglibdir)/.libberth_rt.so"
	mv -f "$(DESTDIR)$(pkglibdir)/.libberth_rt.so" "$(DESTDIR)$(pkglibdir)/libberth_rt.so"

uninstall-runtime:
	rm -f "$(DESTDIR)$(pkglibdir)/libberth_rt.so"

install-exec-local: install-runtime
uninstall-local: uninstall-runtime
