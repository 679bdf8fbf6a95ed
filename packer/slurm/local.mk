# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/slurm/folder_watch.c packer/slurm/folder_watch.h \
	packer/slurm/job_watch.c packer/slurm/job_watch.h \
	packer/slurm/plugin_file.c packer/slurm/plugin_file.h \
	packer/slurm/private_data.c packer/slurm/private_data.h \
	packer/slurm/slurm_conf.c packer/slurm/slurm_conf.h \
	packer/slurm/slurm_cores.c packer/slurm/slurm_cores.h \
	packer/slurm/slurm_folders.c packer/slurm/slurm_folders.h \
	packer/slurm/slurm_jobs.c packer/slurm/slurm_jobs.h \
	packer/slurm/step_cgroup.c packer/slurm/step_cgroup.h
