/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_box - a node packer whose meters, busy CPUs and clock are the test's: powercap's files and
 * /proc/stat in the fixture's folder, and intervals that end when the test says so.
 *
 * The clock is far ahead of this machine's, so that the pipeline's own bill_turn() does nothing. */
#ifndef BERTH_BILL_BOX_H
#define BERTH_BILL_BOX_H

#include "tests/unit/common/fixture.h"

#include "packer/bill/parts.h"

/* A package, its DRAM, the next package, its DRAM, the platform: as the packer numbers them. */
enum { BOX_PACKAGE_0, BOX_DRAM_0, BOX_PACKAGE_1, BOX_DRAM_1, BOX_NODE, BOX_ZONES };

#define BOX_RANGE 262143328850u /* microjoules: the counters go on from 0 there */

struct bill_box {
    struct fixture *f;
    double now_s;
    uint64_t raw[BOX_ZONES];  /* as the counters say */
    bool lost[BOX_ZONES];     /* this counter cannot be read */
    uint64_t used[BOX_ZONES]; /* all that was used since the box was opened */
    unsigned ticks[CPUS_MAX]; /* hundredths of a second that a CPU was busy */
};

/* On a topology of two packages. zones: so many of them are there, from BOX_PACKAGE_0 on. */
struct bill_box *bill_box_open(const char *topology, size_t zones);
void bill_box_close(struct bill_box *box);

/* A zone uses so much, a CPU works so long. */
void bill_box_use(struct bill_box *box, size_t zone, uint64_t uj);
void bill_box_work(struct bill_box *box, size_t cpu, double s);

/* An interval of so many seconds ends. */
void bill_box_turn(struct bill_box *box, double s);

/* berthd dies after so many seconds without a word, another one comes; it adopts nobody yet. */
void bill_box_die(struct bill_box *box, double s);

/* berthd is stopped, on that boot ("": nobody knows which), and what bill_box_use and _work say
 * until bill_box_die is while there is none. */
void bill_box_stop(struct bill_box *box, const char *boot_id);
void bill_box_boot(struct bill_box *box, const char *boot_id);

/* Only the bill is closed, as by a death, and opened anew. */
void bill_box_reopen(struct bill_box *box);

struct bill_account bill_box_account(const struct bill_box *box, size_t zone);

/* metered = steps + idle + unmanaged in each zone. */
void bill_box_adds_up(const struct bill_box *box);

#endif
