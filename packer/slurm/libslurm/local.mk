# SPDX-License-Identifier: GPL-2.0-or-later
# berth-comment and berth-job, which berthd starts: the programs that are linked with libslurm.
if HAVE_SLURMDB
pkglibexec_PROGRAMS += berth-comment berth-job
endif
berth_comment_SOURCES = packer/slurm/libslurm/berth_comment.c packer/settle/comment.c packer/settle/comment.h
berth_comment_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
berth_comment_LDADD = libwire.la $(SLURMDB_LIBS)
berth_job_SOURCES = packer/slurm/libslurm/berth_job.c
berth_job_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
berth_job_LDADD = libwire.la $(SLURMDB_LIBS)
