/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_bar - see day_bar.h */
#include "tests/bench/day_bar.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "packer/base/clock.h"

#define BAR_AFTER_S 2

static struct {
    const char *name; /* of what runs */
    double since_s;
    bool shown;
} bar;

void day_bar_show(double part)
{
    int filled = (int)(30 * fmin(part, 1));

    if (!isatty(STDERR_FILENO) || clock_s() - bar.since_s < BAR_AFTER_S)
        return;
    fprintf(stderr, "\r%-12s [%.*s%*s] %3.0f %%", bar.name, filled,
            "##############################", 30 - filled, "", 100 * fmin(part, 1));
    bar.shown = true;
}

void day_bar_begin(const char *name)
{
    bar.name = name;
    bar.since_s = clock_s();
    bar.shown = false;
}

void day_bar_end(void)
{
    if (bar.shown)
        fprintf(stderr, "\r%70s\r", "");
}
