/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_verdict - does berth help, in one word: by what was measured of programs that ran both
 * where Slurm put them and where berth did. */
#ifndef BERTH_REPORT_BENEFIT_VERDICT_H
#define BERTH_REPORT_BENEFIT_VERDICT_H

#include "packer/report/benefit.h"

/* Fills in result->verdict from its pairs. The whole interval of 95 % within BENEFIT_WORTH of
 * nothing is no gain; else all of it above nothing helps, and all of it below hurts; else it cannot
 * be told, as where a trial has left fewer than BENEFIT_LOT jobs to Slurm, and `more` is about how
 * many jobs the interval takes to be narrow enough, if they come either way as they did until now.
 */
void benefit_judge(struct benefit_result *result);

/* Fills in steering->verdict: log is that of the time of a job that was steered less that of one
 * that was not, error its standard error; NAN: nobody knows. Its hours, programs and jobs are
 * there. Fewer than BENEFIT_LOT hours that were left tell nothing. */
void benefit_judge_steering(struct benefit_steering *steering, double log, double error);

#endif
