/* SPDX-License-Identifier: GPL-2.0-or-later */
/* missed - what the plugin has to say of steps that came and went while there was no berthd: it
 * leaves the message that was for berthd in a file beside the socket. */
#ifndef BERTH_DAEMON_MISSED_H
#define BERTH_DAEMON_MISSED_H

#include "packer/steps/packer.h"

/* Takes the notes that were left, and has `hear` told each. A line that is no such message is left
 * out, and logged. What is not root's alone to write is not read. */
void missed_read(const struct packer *packer,
                 void (*hear)(const struct packer *packer, const struct wire_end *end));

#endif
