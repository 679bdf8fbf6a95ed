/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - one measurement of berthctl calibrate: a crew of threads, each on its CPU and
 * with its own piece of a node's memory, all at work at once, and how much each got done in a
 * window of time. */
#ifndef BERTH_PROBE_CALIBRATE_RUN_H
#define BERTH_PROBE_CALIBRATE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"

#define CALIBRATE_LINE_BYTES 64

/* Says what a worker does, over and over, and what its rate counts. */
enum calibrate_work {
    CALIBRATE_READ,  /* load a word of each line of its memory: bytes */
    CALIBRATE_TRIAD, /* STREAM's a[i] = b[i] + s * c[i], a third of its memory each: bytes as STREAM
                        counts them, 24 for each i */
    CALIBRATE_CHASE, /* follow a chain of pointers, each load waiting for the one before: loads */
    CALIBRATE_PING,  /* change a word that another worker then changes: round trips. */
    CALIBRATE_PONG,  /* the other worker */
    CALIBRATE_GIVE,  /* change a word, wake the worker that sleeps for it, and sleep: round trips. */
    CALIBRATE_TAKE,  /* the other worker */
    CALIBRATE_SPIN   /* add numbers, and nothing else: additions */
};

struct calibrate_worker {
    enum calibrate_work work;
    unsigned cpu; /* the only one that it runs on */
    void *memory; /* its piece; of CHASE: where in a chain it begins; of PING and PONG, GIVE and TAKE: one word,
                     alone on its line, that both share and that is 0 */
    size_t bytes; /* of the piece: a multiple of 64 KiB */
    double rate;  /* the result: of the work's unit, per second */
    double clock_ghz; /* of SPIN, a result, too: its core's clock while it worked; NAN: cycles
                         cannot be counted here */
};

/* Lets the n workers begin together, and after warm_s counts for window_s what each does. 0 and the
 * rates, or -1 and err: a thread could not be started (on its CPU). A signal may shorten the
 * window, a CPU that others keep busy lengthen it; the rates are per second in any case. */
int calibrate_run(struct calibrate_worker *worker, size_t n, double warm_s, double window_s,
                  struct berth_error *err);

/* Returns zeroed memory on that NUMA node only, huge pages where there are any; `bind` false:
 * wherever the kernel puts it (a machine of one node). NULL and err. */
void *calibrate_memory(size_t bytes, unsigned node, bool bind, struct berth_error *err);
void calibrate_memory_free(void *memory, size_t bytes);

/* Makes one chain of all lines of the memory, in random order. */
void calibrate_chain(void *memory, size_t bytes);

#endif
