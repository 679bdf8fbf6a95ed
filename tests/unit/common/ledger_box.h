/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_box - a ledger in a temporary folder, and records to put into it. */
#ifndef BERTH_TESTS_LEDGER_BOX_H
#define BERTH_TESTS_LEDGER_BOX_H

#include "packer/conf/conf.h"
#include "packer/ledger/ledger.h"

struct ledger_box {
    char folder[64];
    struct conf conf; /* ledger, ledger_queue, state_dir */
};

/* An empty folder, a ledger in a file there. */
void ledger_box_open(struct ledger_box *box);
void ledger_box_close(struct ledger_box *box);

/* A record with something in every field, the n-th: job n + 1, started at n + 1000. */
struct ledger_record ledger_box_record(unsigned n);

/* Do two records say the same? Prints the first field that differs. */
bool ledger_box_same(const struct ledger_record *a, const struct ledger_record *b);

/* Wait until nothing waits any more, 60 s at most. */
bool ledger_box_arrived(struct ledger *ledger);

/* How many records are there; fails the test when that cannot be told. */
size_t ledger_box_stored(const struct ledger_box *box);

#endif
