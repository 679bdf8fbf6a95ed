/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_watts - the text of energy_model in berth.conf: "idle=40W,core=6W,dram=3W,sleep=10W". */
#ifndef BERTH_CONF_WATTS_H
#define BERTH_CONF_WATTS_H

#include <stdbool.h>

#include "packer/base/error.h"

/* What each package takes: idle always, core for each core's worth of CPU time that its cores are
 * busy, and dram for its memory. While nothing runs on it, it takes sleep in the place of idle. */
struct energy_watts {
    double idle, core, dram, sleep;
    bool dram_known, sleep_known;
};

/* Reads the text. Returns 0, or -1 and err: what is wrong and what would be right. idle and core
 * are needed, each name stands once, its number is 0 to 10000 watts, with the unit W, and sleep is
 * not above idle. */
int energy_watts_parse(struct energy_watts *watts, const char *text, struct berth_error *err);

#endif
