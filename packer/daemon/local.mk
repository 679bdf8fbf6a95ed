# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/daemon/answer.c packer/daemon/answer.h \
	packer/daemon/apart.c packer/daemon/apart.h \
	packer/daemon/ending.c packer/daemon/ending.h \
	packer/daemon/features.c packer/daemon/features.h \
	packer/daemon/identify.c packer/daemon/identify.h \
	packer/daemon/late.c packer/daemon/late.h \
	packer/daemon/ledger_record.c packer/daemon/ledger_record.h \
	packer/daemon/missed.c packer/daemon/missed.h \
	packer/daemon/node_news.c packer/daemon/node_news.h \
	packer/daemon/notify.c packer/daemon/notify.h \
	packer/daemon/open.c packer/daemon/open.h \
	packer/daemon/own_cpus.c packer/daemon/own_cpus.h \
	packer/daemon/pipeline.c packer/daemon/pipeline.h \
	packer/daemon/pressure.c packer/daemon/pressure.h \
	packer/daemon/privileges.c packer/daemon/privileges.h \
	packer/daemon/propose.c packer/daemon/propose.h \
	packer/daemon/record_pages.c packer/daemon/record_pages.h \
	packer/daemon/records.c packer/daemon/records.h \
	packer/daemon/render.c packer/daemon/render.h \
	packer/daemon/render_bill.c packer/daemon/render_bill.h \
	packer/daemon/render_counts.c packer/daemon/render_counts.h \
	packer/daemon/render_course.c packer/daemon/render_course.h \
	packer/daemon/render_now.c packer/daemon/render_now.h \
	packer/daemon/render_sample.c packer/daemon/render_sample.h \
	packer/daemon/requests.c packer/daemon/requests.h \
	packer/daemon/resume.c \
	packer/daemon/stages.c packer/daemon/stages.h \
	packer/daemon/stored.c packer/daemon/stored.h \
	packer/daemon/sweep.c packer/daemon/sweep.h \
	packer/daemon/tally.c packer/daemon/tally.h \
	packer/daemon/warning.c packer/daemon/warning.h

sbin_PROGRAMS += berthd
berthd_SOURCES = packer/daemon/berthd.c
berthd_LDADD = $(PACKER_LIBS)

# What berth.conf(5), berth-metrics(7) and the sample of berth.conf are written with.
noinst_PROGRAMS += packer/daemon/confdoc
packer_daemon_confdoc_LDADD = $(PACKER_LIBS)
