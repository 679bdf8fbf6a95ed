/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share_adapt - whether steps that Slurm let share their cores all use all of them, or have a part
 * each (ADAPT, Pusukuri 2012, chapter 6; models/inside/adapt.h).
 *
 * It is asked about steps of different jobs where berth.conf says share=adapt, and about steps of
 * one job that all asked for `adapt`. It decides when one of them comes or goes, and, by the three
 * rules of the model, after each interval of 2 s. The paper's ten readings of an interval are two
 * here: the counters go on counting between them.
 *
 * Its predictions are made from what each program did alone, as the profile store has it from
 * earlier runs. Where that is not known the steps share by need (size/share.h), and once an
 * interval was counted by eq. 6.3 from what they do now, which says nothing of all cores: eq. 6.1
 * holds for what programs do alone only. The coefficients are those of the machine profile, else
 * the paper's. */
#ifndef BERTH_SIZE_SHARE_ADAPT_H
#define BERTH_SIZE_SHARE_ADAPT_H

#include "packer/steps/packer.h"

/* A pass over all steps that share cores begins; it is over: what was not asked about in it is
 * forgotten. */
void share_adapt_begin(const struct packer *packer);
void share_adapt_end(const struct packer *packer);

/* Decides for n steps, 2 to ADAPT_PROGRAMS_MAX, in order of registration, that have so many cores
 * in common and no others. Writes step->share.adapt. Returns whether it is decided; then get[n] is
 * how many of the cores each has, all of them where all use all. */
bool share_adapt_decide(const struct packer *packer, size_t n, struct step *const *step,
                        size_t cores, unsigned *get);

/* Tells a step that it is not asked about, and why; NULL: it was none to ask about. */
void share_adapt_not(struct step *step, const char *why);

/* Takes in what was counted since the last interval. Returns whether something else was decided for
 * any steps: then their cores are to be divided anew. */
bool share_adapt_turn(const struct packer *packer);

void share_adapt_free(const struct packer *packer);

#endif
