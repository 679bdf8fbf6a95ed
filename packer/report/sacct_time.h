/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_time - points in time as sacct takes them:
 *
 *   HH:MM[:SS][AM|PM]  MMDD[YY]  MM/DD[/YY]  MM.DD[.YY]  YYYY-MM-DD, each date with a time behind
 *   "T", "-" or a blank; today, tomorrow; midnight, elevenses (11:00), noon, fika (15:00), teatime
 *   (16:00), also behind a date; now[{+|-}COUNT[seconds|minutes|hours|days|weeks]]; utsSECONDS.
 *
 * A time alone is today's, a date without a year is the last such month's: sacct looks back. */
#ifndef BERTH_REPORT_SACCT_TIME_H
#define BERTH_REPORT_SACCT_TIME_H

#include <stdint.h>

#include "packer/base/error.h"

/* Read such a text; now and *at are unix seconds, the text is in local time. 0, or -1 and err. */
int report_time_parse(const char *text, int64_t now, int64_t *at, struct berth_error *err);

/* 00:00:00 of the day of `at`, in local time. */
int64_t report_time_midnight(int64_t at);

#endif
