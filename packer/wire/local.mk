# SPDX-License-Identifier: GPL-2.0-or-later
libwire_la_SOURCES += \
	packer/wire/wire.c packer/wire/wire.h \
	packer/wire/wire_calls.c packer/wire/wire_calls.h packer/wire/wire_calls_impl.h \
	packer/wire/wire_client.c packer/wire/wire_client.h \
	packer/wire/wire_env.c packer/wire/wire_env.h \
	packer/wire/wire_go.c \
	packer/wire/wire_guest.c packer/wire/wire_guest.h \
	packer/wire/wire_identity.c packer/wire/wire_identity.h \
	packer/wire/wire_left.c packer/wire/wire_left.h packer/wire/wire_left.def \
	packer/wire/wire_libraries.c \
	packer/wire/wire_names.c \
	packer/wire/wire_object.c packer/wire/wire_object.h \
	packer/wire/wire_program.c packer/wire/wire_program.h \
	packer/wire/wire_program_table.c packer/wire/wire_program_table.h \
	packer/wire/wire_records.c packer/wire/wire_records.h \
	packer/wire/wire_shape.c \
	packer/wire/wire_step.c
