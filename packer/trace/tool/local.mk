# SPDX-License-Identifier: GPL-2.0-or-later
# Our own tool of valgrind, a static program without libc: a command line of its own, whatever CFLAGS say. The folder it is in is one that
# VALGRIND_LIB may name: with a link to what valgrind preloads into each program.
VALGRIND_PARTS = \
	packer/trace/tool/berth_main.c \
	packer/trace/tool/count.c packer/trace/tool/count.h \
	packer/trace/tool/instrument.c packer/trace/tool/instrument.h \
	packer/trace/tool/turns.c packer/trace/tool/turns.h
EXTRA_DIST += $(VALGRIND_PARTS) packer/trace/cachesim.c

if VALGRIND_TOOL
VALGRIND_FILE = berth-$(VALGRIND_PLATFORM)
VALGRIND_LINK = vgpreload_core-$(VALGRIND_PLATFORM).so
pkglibexec_SCRIPTS += packer/trace/tool/$(VALGRIND_FILE)
noinst_DATA = packer/trace/tool/$(VALGRIND_LINK)
CLEANFILES += packer/trace/tool/$(VALGRIND_FILE) packer/trace/tool/$(VALGRIND_LINK)

packer/trace/tool/$(VALGRIND_FILE): $(VALGRIND_PARTS) packer/trace/cachesim.c packer/trace/cachesim.h \
		packer/base/error.h packer/trace/area.h
	$(AM_V_CCLD)$(MKDIR_P) packer/trace/tool && $(CC) $(VALGRIND_TOOL_CFLAGS) -I$(top_srcdir) -o $@ \
		$(top_srcdir)/packer/trace/tool/berth_main.c $(top_srcdir)/packer/trace/tool/count.c $(top_srcdir)/packer/trace/tool/instrument.c \
		$(top_srcdir)/packer/trace/tool/turns.c $(top_srcdir)/packer/trace/cachesim.c $(VALGRIND_TOOL_LIBS)

packer/trace/tool/$(VALGRIND_LINK):
	$(AM_V_GEN)$(MKDIR_P) packer/trace/tool && ln -sf $(VALGRIND_PRELOAD) $@

EXEC_HOOKS += install-valgrind-link
install-valgrind-link: install-pkglibexecSCRIPTS
	ln -sf $(VALGRIND_PRELOAD) $(DESTDIR)$(pkglibexecdir)/$(VALGRIND_LINK)

UNINSTALL_TOOL = rm -f "$(DESTDIR)$(pkglibexecdir)/$(VALGRIND_LINK)"
endif
