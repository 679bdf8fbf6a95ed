# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/ledger/columns.c packer/ledger/columns.h \
	packer/ledger/deliver.c packer/ledger/deliver.h \
	packer/ledger/hours.c \
	packer/ledger/ledger.c packer/ledger/ledger.h \
	packer/ledger/line.c packer/ledger/line.h \
	packer/ledger/nodes.c \
	packer/ledger/outbox.c packer/ledger/outbox.h \
	packer/ledger/read.c \
	packer/ledger/schema.c packer/ledger/schema.h \
	packer/ledger/spool.c packer/ledger/spool.h \
	packer/ledger/store.c packer/ledger/store.h
