# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/slurm/plugin_file.c packer/slurm/plugin_file.h \
	packer/slurm/private_data.c packer/slurm/private_data.h \
	packer/slurm/slurm_conf.c packer/slurm/slurm_conf.h \
	packer/slurm/slurm_cores.c packer/slurm/slurm_cores.h \
	packer/slurm/step_cgroup.c packer/slurm/step_cgroup.h
