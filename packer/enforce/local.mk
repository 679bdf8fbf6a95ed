# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/enforce/cgroup.c \
	packer/enforce/cgroup1.c \
	packer/enforce/cgroup2.c \
	packer/enforce/dryrun.c \
	packer/enforce/enforce.c packer/enforce/enforce.h \
	packer/enforce/leaf_mark.c packer/enforce/leaf_mark.h \
	packer/enforce/list.h \
	packer/enforce/listed.c packer/enforce/listed.h \
	packer/enforce/masks.c packer/enforce/masks.h packer/enforce/masks_read.c \
	packer/enforce/processes.c \
	packer/enforce/register.c \
	packer/enforce/settle.c \
	packer/enforce/slices.c packer/enforce/slices.h \
	packer/enforce/threads.c
