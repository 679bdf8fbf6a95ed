# SPDX-License-Identifier: GPL-2.0-or-later
# berth-comment, which berthd starts: the one program that is linked with libslurm.
pkglibexec_PROGRAMS =
if HAVE_SLURMDB
pkglibexec_PROGRAMS += berth-comment
endif
berth_comment_SOURCES = accounting/berth_comment.c accounting/comment.c accounting/comment.h
berth_comment_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) $(SLURM_CFLAGS)
berth_comment_LDADD = libwire.la $(SLURMDB_LIBS)
