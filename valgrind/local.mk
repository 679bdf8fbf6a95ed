# SPDX-License-Identifier: GPL-2.0-or-later
# Our own tool of valgrind, a static program without libc: a command line of its own, whatever CFLAGS say. The folder it is in is one that
# VALGRIND_LIB may name: with a link to what valgrind preloads into each program.
VALGRIND_PARTS = \
	valgrind/berth_main.c \
	valgrind/count.c valgrind/count.h \
	valgrind/instrument.c valgrind/instrument.h \
	valgrind/turns.c valgrind/turns.h
EXTRA_DIST += $(VALGRIND_PARTS) packer/cachesim.c

if VALGRIND_TOOL
VALGRIND_FILE = berth-$(VALGRIND_PLATFORM)
VALGRIND_LINK = vgpreload_core-$(VALGRIND_PLATFORM).so
pkglibexec_SCRIPTS = valgrind/$(VALGRIND_FILE)
noinst_DATA = valgrind/$(VALGRIND_LINK)
CLEANFILES += valgrind/$(VALGRIND_FILE) valgrind/$(VALGRIND_LINK)

valgrind/$(VALGRIND_FILE): $(VALGRIND_PARTS) packer/cachesim.c packer/cachesim.h \
		packer/error.h packer/tracer_area.h
	$(AM_V_CCLD)$(MKDIR_P) valgrind && $(CC) $(VALGRIND_TOOL_CFLAGS) -I$(top_srcdir) -I$(top_srcdir)/valgrind -o $@ \
		$(top_srcdir)/valgrind/berth_main.c $(top_srcdir)/valgrind/count.c $(top_srcdir)/valgrind/instrument.c \
		$(top_srcdir)/valgrind/turns.c $(top_srcdir)/packer/cachesim.c $(VALGRIND_TOOL_LIBS)

valgrind/$(VALGRIND_LINK):
	$(AM_V_GEN)$(MKDIR_P) valgrind && ln -sf $(VALGRIND_PRELOAD) $@

install-exec-hook: install-valgrind-link
install-valgrind-link: install-pkglibexecSCRIPTS
	ln -sf $(VALGRIND_PRELOAD) $(DESTDIR)$(pkglibexecdir)/$(VALGRIND_LINK)

uninstall-hook: uninstall-valgrind-link
uninstall-valgrind-link:
	rm -f $(DESTDIR)$(pkglibexecdir)/$(VALGRIND_LINK)
endif
