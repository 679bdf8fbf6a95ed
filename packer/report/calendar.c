/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/report/calendar.h"

#include <time.h>

static int64_t midnight(struct tm tm)
{
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return mktime(&tm);
}

bool calendar_find(struct calendar *calendar, int64_t at)
{
    time_t seconds = (time_t)at;
    struct tm tm;

    if (at >= calendar->begin && at < calendar->next)
        return true;
    calendar->begin = calendar->next = 0;
    if (!localtime_r(&seconds, &tm) || tm.tm_year < 0 || tm.tm_year > 8099)
        return false;
    if (calendar->months)
        tm.tm_mday = 1;
    strftime(calendar->name, sizeof(calendar->name), calendar->months ? "%Y-%m" : "%Y-%m-%d", &tm);
    calendar->begin = midnight(tm);
    *(calendar->months ? &tm.tm_mon : &tm.tm_mday) += 1;
    calendar->next = midnight(tm);
    return true;
}
