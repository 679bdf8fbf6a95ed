# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/conf/address.c packer/conf/address.h \
	packer/conf/admit.c packer/conf/admit.h \
	packer/conf/admit_names.c packer/conf/admit_names.h \
	packer/conf/conf.c packer/conf/conf.h \
	packer/conf/key.h \
	packer/conf/keys.c \
	packer/conf/print.c \
	packer/conf/value.c \
	packer/conf/tariff.c packer/conf/tariff.h \
	packer/conf/watts.c packer/conf/watts.h
