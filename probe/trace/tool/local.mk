# SPDX-License-Identifier: GPL-2.0-or-later
# Our own tool of valgrind, a static program without libc: a command line of its own, whatever CFLAGS say. The folder it is in is one that
# VALGRIND_LIB may name: with a link to what valgrind preloads into each program.
VALGRIND_PARTS = \
	probe/trace/tool/berth_main.c \
	probe/trace/tool/count.c probe/trace/tool/count.h \
	probe/trace/tool/instrument.c probe/trace/tool/instrument.h \
	probe/trace/tool/turns.c probe/trace/tool/turns.h
EXTRA_DIST += $(VALGRIND_PARTS) probe/trace/cachesim.c probe/trace/dramsim.c

if VALGRIND_TOOL
VALGRIND_FILE = berth-$(VALGRIND_PLATFORM)
VALGRIND_LINK = vgpreload_core-$(VALGRIND_PLATFORM).so
pkglibexec_SCRIPTS += probe/trace/tool/$(VALGRIND_FILE)
noinst_DATA = probe/trace/tool/$(VALGRIND_LINK)
CLEANFILES += probe/trace/tool/$(VALGRIND_FILE) probe/trace/tool/$(VALGRIND_LINK)

probe/trace/tool/$(VALGRIND_FILE): $(VALGRIND_PARTS) probe/trace/cachesim.c probe/trace/cachesim.h \
		probe/trace/dramsim.c probe/trace/dramsim.h \
		packer/base/error.h probe/trace/area.h
	$(AM_V_CCLD)$(MKDIR_P) probe/trace/tool && $(CC) $(VALGRIND_TOOL_CFLAGS) -I$(top_srcdir) -o $@ \
		$(top_srcdir)/probe/trace/tool/berth_main.c $(top_srcdir)/probe/trace/tool/count.c $(top_srcdir)/probe/trace/tool/instrument.c \
		$(top_srcdir)/probe/trace/tool/turns.c $(top_srcdir)/probe/trace/cachesim.c $(top_srcdir)/probe/trace/dramsim.c $(VALGRIND_TOOL_LIBS)

probe/trace/tool/$(VALGRIND_LINK):
	$(AM_V_GEN)$(MKDIR_P) probe/trace/tool && ln -sf $(VALGRIND_PRELOAD) $@

EXEC_HOOKS += install-valgrind-link
install-valgrind-link: install-pkglibexecSCRIPTS
	ln -sf $(VALGRIND_PRELOAD) $(DESTDIR)$(pkglibexecdir)/$(VALGRIND_LINK)

UNINSTALL_TOOL = rm -f "$(DESTDIR)$(pkglibexecdir)/$(VALGRIND_LINK)"
endif
