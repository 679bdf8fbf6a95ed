# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/settle/figures.c packer/settle/figures.h \
	packer/settle/list.c packer/settle/list.h \
	packer/settle/settler.c packer/settle/settler.h

# berth-comment and berth-job, which berthd starts: the programs that are linked with libslurm.
pkglibexec_PROGRAMS =
if HAVE_SLURMDB
pkglibexec_PROGRAMS += berth-comment berth-job
endif
berth_comment_SOURCES = packer/settle/berth_comment.c packer/settle/comment.c packer/settle/comment.h
berth_comment_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
berth_comment_LDADD = libwire.la $(SLURMDB_LIBS)
