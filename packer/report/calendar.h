/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calendar - days and months in local time. */
#ifndef BERTH_REPORT_CALENDAR_H
#define BERTH_REPORT_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

/* The day, or the month, that was asked for last: many times in a row are of the same. */
struct calendar {
    bool months;
    int64_t begin, next; /* unix seconds: its first, and that of the one behind it */
    char name[16];       /* "2026-11-21", "2026-11" */
};

/* Finds the day or month of a time in Unix seconds, where it is not that already. Returns false
 * where there is none: the time is out of all bounds. */
bool calendar_find(struct calendar *calendar, int64_t at);

#endif
