/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note - leaves a message for a berthd that is not there, beside its socket: it reads that when it
 * is back, and so counts the launches that went on without it. */
#ifndef BERTH_NOTE_H
#define BERTH_NOTE_H

#include "packer/wire/wire.h"

/* Appends the request to the notes beside the socket. Returns 0; or -1 with errno and nothing done:
 * the folder is not there, say, or the notes are WIRE_MISSED_MAX bytes already (EFBIG). */
int note_leave(const char *socket, const struct wire_request *request);

#endif
