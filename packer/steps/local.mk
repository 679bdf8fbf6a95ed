# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/steps/adopt.c packer/steps/adopt.h \
	packer/steps/effect.c packer/steps/effect.h \
	packer/steps/journal.c packer/steps/journal.h \
	packer/steps/journal_file.c packer/steps/journal_file.h \
	packer/steps/lacks.c packer/steps/lacks.h \
	packer/steps/os_noise.c packer/steps/os_noise.h \
	packer/steps/packer.c packer/steps/packer.h \
	packer/steps/pairs.c packer/steps/pairs.h \
	packer/steps/pool.c packer/steps/pool.h \
	packer/steps/program.c packer/steps/program.h \
	packer/steps/programs.c packer/steps/programs.h \
	packer/steps/proposed.c packer/steps/proposed.h \
	packer/steps/rank_tasks.c packer/steps/rank_tasks.h \
	packer/steps/registers.c packer/steps/registers.h \
	packer/steps/registry.c packer/steps/registry.h \
	packer/steps/rest.c packer/steps/rest.h \
	packer/steps/run_folder.c packer/steps/run_folder.h \
	packer/steps/stage.c packer/steps/stage.h \
	packer/steps/stand.c packer/steps/stand.h \
	packer/steps/step_counts.c packer/steps/step_counts.h \
	packer/steps/stranger_list.c packer/steps/stranger_list.h \
	packer/steps/tally.h \
	packer/steps/together.c packer/steps/together.h \
	packer/steps/walk.c packer/steps/walk.h
