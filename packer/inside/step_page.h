/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_page - the page that berthd and the processes of a step share, and what these say beside it
 * (runtime/page.h): RUNDIR/steps/JOB.STEP and JOB.STEP.said, RUNDIR being the socket's folder.
 *
 * The page is one and the same file until the step is over, also for the next berthd, which finds
 * it by its name. Nothing in it has to be undone by a journal: the page is what says what is in
 * effect. */
#ifndef BERTH_INSIDE_STEP_PAGE_H
#define BERTH_INSIDE_STEP_PAGE_H

#include <stdbool.h>

#include "packer/inside/step_said.h"
#include "packer/steps/packer.h"
#include "runtime/page.h"

struct step_page;

/* Makes the step's page, in which nothing is turned on, or takes over the one that it has. 0, or -1
 * and err. */
int step_page_open(struct step_page **out, const struct packer *packer, const struct step *step,
                   struct berth_error *err);

/* Opens the page that the step has, of a berthd before this one, say, without what is said beside
 * it. 0, or -1: there is none. */
int step_page_find(struct step_page **out, const struct packer *packer, const struct step *step);

void step_page_close(struct step_page *page); /* the files stay; NULL is fine */

/* Returns the page's path, which goes with it. */
const char *step_page_path(const struct step_page *page);

/* Turns a feature on or off. 0, or -1 and err: it is as it was. */
int step_page_switch(struct step_page *page, enum rt_feature feature, bool on,
                     struct berth_error *err);
bool step_page_has(const struct step_page *page, enum rt_feature feature);

/* Says how many threads a region of the step shall have; 0: the program's own number. 0, or -1 and
 * err: it is as it was. */
int step_page_tell(struct step_page *page, uint32_t threads, struct berth_error *err);
uint32_t step_page_told(const struct step_page *page);

/* Says what RT_THROTTLE goes by. 0, or -1 and err: it is as it was. */
int step_page_throttle(struct step_page *page, enum rt_throttle mode, uint32_t hold,
                       struct berth_error *err);

/* Says to which memory nodes and caches the CPUs belong that the step stands on now. Nothing is
 * written where the page has them. 0, or -1 and err. */
int step_page_stand(struct step_page *page, const struct packer *packer, const struct step *step,
                    struct berth_error *err);

/* Returns how many caches they are, or memory nodes where those are more. */
unsigned step_page_domains(const struct step_page *page);

/* Adds what was said since the last time, without waiting, as far as there is not too much. */
void step_page_listen(const struct step_page *page, struct step_said *said);

/* Fills in what was heard of a page that was taken over; *said stays as it is where nothing was. */
void step_page_heard(const struct step_page *page, struct step_said *said);

/* The step is over: its files are removed. Those of all steps that do not live are, too. */
void step_page_remove(const struct packer *packer, const struct step *step);
void step_page_sweep(const struct packer *packer);

#endif
