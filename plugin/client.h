/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client - one request to berthd, one answer, one deadline. */
#ifndef BERTH_CLIENT_H
#define BERTH_CLIENT_H

#include "packer/wire/wire.h"

enum client_result {
    CLIENT_ANSWERED, /* answer is filled (its ok may be false); free it with wire_answer_clear */
    CLIENT_UNHEARD, /* berthd has the request, and may have acted on it, but no whole answer came in
                       time */
    CLIENT_UNREACHED, /* berthd has not got the request */
};

/* Send the request to the socket at path and read one line. The deadline, in ms from now, is for
 * everything together: a server that takes no connection, hangs or trickles bytes costs no more
 * than that. The server must run as root (or as we do). Unless CLIENT_ANSWERED, err says why and
 * answer is empty. */
enum client_result client_ask(const char *path, unsigned deadline_ms,
                              const struct wire_request *request, struct wire_answer *answer,
                              struct berth_error *err);

#endif
