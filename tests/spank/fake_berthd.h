/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_berthd - a packer that behaves well or badly, in a process and a temporary directory of its
 * own. It keeps every line it was sent. */
#ifndef BERTH_TESTS_FAKE_BERTHD_H
#define BERTH_TESTS_FAKE_BERTHD_H

#include <stddef.h>
#include <sys/types.h>

#include "packer/wire/wire.h"

enum fake_way {
    FAKE_ABSENT,    /* no socket */
    FAKE_DEAD,      /* a socket that nobody listens at */
    FAKE_DEAF,      /* listens and never accepts; its backlog is full */
    FAKE_HUNG,      /* reads, never answers */
    FAKE_CLOSES,    /* reads, sends half an answer, closes */
    FAKE_SLAMS,     /* closes without reading */
    FAKE_GARBAGE,   /* answers no JSON */
    FAKE_TRUNCATED, /* half a JSON object and a newline */
    FAKE_ENDLESS,   /* more bytes than a message may have, no newline */
    FAKE_TRICKLE,   /* a byte now and then, for ever */
    FAKE_STRANGER,  /* answers well, but is neither root nor we (root only) */
    FAKE_ANSWERS,   /* answers the text to a registration, ok to others */
};

struct fake_berthd {
    char dir[64], socket[96], record[96];
    enum fake_way way;
    const char *answer;
    int filler; /* FAKE_DEAF: the connection that fills the backlog */
    pid_t pid;
};

/* Start one; it listens when this returns. */
void fake_start(struct fake_berthd *fake, enum fake_way way, const char *answer);

/* End it and remove its directory. */
void fake_stop(struct fake_berthd *fake);

/* Say that a job is in the pool. */
void fake_mark_job(const struct fake_berthd *fake, uint32_t job);

/* Put a file of that name into the folder of the pool. */
void fake_mark(const struct fake_berthd *fake, const char *name);

/* Wait until n lines have come (or a few seconds have passed) and decode them into request[max];
 * the number of lines that came. */
size_t fake_requests(const struct fake_berthd *fake, size_t n, struct wire_request *request,
                     size_t max);

#endif
