/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sacct_time - reads points in time as sacct takes them:
 *
 *   HH:MM[:SS][AM|PM]  MMDD[YY]  MM/DD[/YY]  MM.DD[.YY]  YYYY-MM-DD, each date with a time behind
 *   "T", "-" or a blank; today, tomorrow; midnight, noon, also behind a date;
 *   now[{+|-}COUNT[seconds|minutes|hours|days|weeks]]; utsSECONDS.
 *
 * A time alone is today's, a date without a year is the last such month's: sacct looks back. */
#ifndef BERTH_REPORT_SACCT_TIME_H
#define BERTH_REPORT_SACCT_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

/* Reads such a text, in local time, into *at; now and *at are unix seconds. 0, or -1 and err. */
int sacct_time_parse(const char *text, int64_t now, int64_t *at, struct berth_error *err);

/* Returns 00:00:00 of the day of `at`, in local time; both are unix seconds. */
int64_t sacct_time_midnight(int64_t at);

/* Writes a point in time as sacct shows it, in local time: "2026-11-21T08:00:00". Returns its
 * length; 0: it is none. */
size_t sacct_time_format(int64_t at, char *text, size_t size);

#endif
