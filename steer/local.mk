# SPDX-License-Identifier: GPL-2.0-or-later
# berth-steer: beside slurmctld. It has of packer/ what it needs of base/, sql/ and cli/options/, and nothing of berthd.
if HAVE_SLURMDB
sbin_PROGRAMS += berth-steer
endif
steer_parts = steer/hours.c steer/hours.h steer/news.c steer/news.h steer/node.c steer/node.h steer/round.c steer/round.h steer/state.c steer/state.h
berth_steer_SOURCES = steer/main.c steer/controller.c steer/controller.h steer/options.c steer/options.h steer/outcome.c steer/outcome.h $(steer_parts)
berth_steer_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
berth_steer_LDADD = libctl.la libpacker.la libmodels.la libwire.la $(SLURMDB_LIBS)
