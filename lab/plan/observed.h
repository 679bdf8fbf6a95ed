/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observed - "observed":[{"app","beside":[...],"slowdown","error"}]: what was measured, which
 * corrects what contend predicts. */
#ifndef BERTH_LAB_PLAN_OBSERVED_H
#define BERTH_LAB_PLAN_OBSERVED_H

#include <json-c/json.h>
#include <stddef.h>

#include "models/slowdown/contend.h"
#include "models/slowdown/evidence.h"
#include "packer/base/error.h"
#include "lab/plan/apps.h"

/* Returns how well what is said of a program lets contend predict. */
enum evidence_rung ctl_observed_rung(const struct app *app);

/* Reads input.observed, the oldest first, of the programs that contend has studied; *evidence
 * (evidence_free) is NULL where nothing was observed. 0, or -1 and err, which names the field. */
int ctl_observed_read(struct evidence **evidence, const struct ctl_apps *apps,
                      const struct contend *contend, struct json_object *input,
                      struct berth_error *err);

/* Corrects what contend predicts of n programs on one cache, each beside the others. contend's
 * program i is apps[app[i]]; NULL: apps[i]. error[i] is the standard deviation of slowdown[i]. */
void ctl_observed_correct(const struct evidence *evidence, const struct contend *contend,
                          const size_t *app, size_t n, const size_t *member, double *slowdown,
                          double *error);

#endif
