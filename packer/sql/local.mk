# SPDX-License-Identifier: GPL-2.0-or-later
libpacker_la_SOURCES += \
	packer/sql/fields.c packer/sql/fields.h \
	packer/sql/sql.c packer/sql/sql.h \
	packer/sql/sql_way.h \
	packer/sql/sqlite.c
if MARIADB
libpacker_la_SOURCES += packer/sql/mariadb.c
else
libpacker_la_SOURCES += packer/sql/nomariadb.c
endif
