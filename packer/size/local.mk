# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/size/answer.c packer/size/answer.h \
	packer/size/cores.c packer/size/cores.h \
	packer/size/demand.c packer/size/demand.h \
	packer/size/flexible.c packer/size/flexible.h \
	packer/size/judge.c packer/size/judge.h \
	packer/size/loads.c packer/size/loads.h \
	packer/size/loop.c packer/size/loop.h \
	packer/size/measure.c \
	packer/size/measuring.c packer/size/measuring.h \
	packer/size/memories.c packer/size/memories.h \
	packer/size/model.c packer/size/model.h packer/size/model_impl.h \
	packer/size/phases.c packer/size/phases.h \
	packer/size/predict.c \
	packer/size/profiling.c packer/size/profiling.h \
	packer/size/question.c \
	packer/size/claims.c packer/size/claims.h \
	packer/size/share.c packer/size/share.h \
	packer/size/share_adapt.c packer/size/share_adapt.h \
	packer/size/share_wait.c packer/size/share_wait.h \
	packer/size/size.c packer/size/size.h packer/size/size_impl.h \
	packer/size/sizing.c packer/size/sizing.h \
	packer/size/stored.c packer/size/stored.h \
	packer/size/traffic.c packer/size/traffic.h
