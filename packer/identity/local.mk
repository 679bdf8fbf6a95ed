# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/identity/asker.c packer/identity/asker.h \
	packer/identity/jobs.c packer/identity/jobs.h \
	packer/identity/said.c packer/identity/said.h

# Listed in settle/local.mk.
berth_job_SOURCES = packer/identity/berth_job.c
berth_job_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
berth_job_LDADD = libwire.la $(SLURMDB_LIBS)
