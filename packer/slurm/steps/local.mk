# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/slurm/steps/home.c packer/slurm/steps/home.h \
	packer/slurm/steps/pool_marker.c packer/slurm/steps/pool_marker.h \
	packer/slurm/steps/stepd.c packer/slurm/steps/stepd.h \
	packer/slurm/steps/strangers.c packer/slurm/steps/strangers.h
