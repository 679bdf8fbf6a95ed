# SPDX-License-Identifier: GPL-2.0-or-later
# libprobe: what measures programs and machines by running them: berthctl's verbs profile, pairs, threads,
# microstates, study and calibrate, which are the program berth-probe.
noinst_LTLIBRARIES += libprobe.la
libprobe_la_CPPFLAGS = $(AM_CPPFLAGS) -DVALGRIND=\"$(VALGRIND)\" -DVALGRIND_FOLDER=\"probe/trace/tool\" \
	-DVALGRIND_TOOL=\"$(VALGRIND_FILE)\"
libprobe_la_SOURCES =
include probe/trace/local.mk
# profile
libprobe_la_SOURCES += \
	probe/profile/args.c \
	probe/profile/dram.c probe/profile/dram.h \
	probe/profile/pair_predict.c probe/profile/pair_predict.h \
	probe/profile/pairs.c \
	probe/profile/print.c \
	probe/profile/profile.c probe/profile/profile.h \
	probe/profile/store.c probe/profile/store.h \
	probe/profile/transfer.c \
	probe/profile/verb.c
# threads
libprobe_la_SOURCES += \
	probe/threads/args.c \
	probe/threads/census.c probe/threads/census.h \
	probe/threads/dry_run.c \
	probe/threads/keep.c \
	probe/threads/microstates.c \
	probe/threads/probe.c probe/threads/probe.h \
	probe/threads/sweep.c \
	probe/threads/threads.h \
	probe/threads/verb.c
# calibrate
libprobe_la_SOURCES += \
	probe/calibrate/adapt.c \
	probe/calibrate/calibrate.c probe/calibrate/calibrate.h \
	probe/calibrate/fit.c probe/calibrate/fit.h \
	probe/calibrate/measure.c probe/calibrate/measure.h \
	probe/calibrate/places.c probe/calibrate/places.h \
	probe/calibrate/print.c \
	probe/calibrate/run.c probe/calibrate/run.h
# study
libprobe_la_SOURCES += \
	probe/study/answer.c \
	probe/study/places.c probe/study/places.h \
	probe/study/prefetch.c probe/study/prefetch.h \
	probe/study/run.c probe/study/run.h \
	probe/study/study.h \
	probe/study/verb.c

pkglibexec_PROGRAMS += berth-probe
berth_probe_SOURCES = probe/berth_probe.c
berth_probe_LDADD = libprobe.la libctl.la $(PACKER_LIBS)
