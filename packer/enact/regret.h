/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regret - the last move of running steps, until it is judged: where all steps of the caches that
 * it concerned do less for it, it is put back (replace.h). */
#ifndef BERTH_ENACT_REGRET_H
#define BERTH_ENACT_REGRET_H

#include "models/online/dio.h"
#include "packer/enact/weigh.h"

/* Windows after a move before its effect is judged. */
#define REGRET_WINDOWS 3

/* A step on the caches that a move concerned, and how fast it was. */
struct regret_step {
    struct wire_step_id id;
    bool moved;
    double before, before_error; /* instructions per CPU second */
    double clock_ghz; /* then; NAN: not known, or its packages are others now: the clock of these is
                         what the move has made */
    double misses, hits; /* then, per million instructions; NAN not known */
    double misses_error;
    double far, far_after; /* how far apart its tasks' cores stood, and stand (threads.h) */
};

/* The last move, until it is judged. */
struct regret {
    uint64_t id;        /* of the proposal; 0: nothing is watched */
    double worth;       /* the speed at which it still pays, of that before */
    struct pool before; /* the permutation that it replaced */
    struct pool after;
    size_t n;
    struct regret_step *step; /* [n] */
};

/* Remembers what `next` replaces, and how fast everybody is whom that concerns; the id is that of
 * the proposal, not 0. For want of memory nothing is judged. */
void regret_watch(const struct packer *packer, struct regret *watch, struct pool *next, uint64_t id,
                  const struct weighed *weighed);

/* What was moved has come there: all on the caches concerned are told apart from before, their
 * averages are of the new standing. */
void regret_begin_anew(const struct packer *packer, const struct regret *watch);

/* Judges the move when all on the caches concerned can be judged; where steps have come or gone
 * since, it never is. Returns the id of one that was regretted and is put back; 0: none. */
uint64_t regret_judge(const struct packer *packer, struct regret *watch,
                      const struct dio_rules *rules);

/* Nothing is watched any more. */
void regret_forget(struct regret *watch);

#endif
