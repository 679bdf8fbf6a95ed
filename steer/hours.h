/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hours - a standing trial: by lot, in some hours nothing is steered, so that `berthctl report
 * --benefit` can compare jobs that started in either.
 *
 * The lot is drawn when the first round of an hour comes, and stands in the ledger's database
 * (table steer_hour), where a berth-steer that is started again finds it. An hour that cannot be
 * written down is steered: who could not be compared need not be left alone. */
#ifndef BERTH_STEER_HOURS_H
#define BERTH_STEER_HOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/error.h"

#define HOURS_S 3600

/* What is written of the hour of `now`. */
struct steer_hour {
    bool steered; /* true where nothing is known */
    bool kept;    /* it stands in the database */
};

/* Draws the hour's lot, or reads it where it was drawn. percent: of the hours that are left; 0:
 * there is no trial, and nothing is asked or written. url, defaults: as berth.conf's ledger and
 * ledger_defaults. now: Unix seconds. Returns 0, or -1 and err: it is to be steered. */
int hours_draw(const char *url, const char *defaults, unsigned percent, int64_t now,
               struct steer_hour *hour, struct berth_error *err);

/* Notes that a round has done what the lot says: jobs that start before `ends`, Unix seconds, are
 * of this hour. Returns 0, or -1 and err. */
int hours_note(const char *url, const char *defaults, int64_t now, int64_t ends,
               struct berth_error *err);

#endif
