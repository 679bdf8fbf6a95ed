/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asker - has berth-job ask slurmctld who the jobs of this node are, without anybody waiting for
 * it.
 *
 * berthd asks once for each run of a job that has a step here, and keeps the answer. A thread
 * starts the program, ASKER_EVERY_S apart at least, with up to SAID_JOBS_MAX jobs that are due.
 * Where nobody answers it tries again, later and later, for ASKER_PATIENCE_S a job. The nodes of a
 * wide job all have the same question at the same time: who asks says how wide, and the questions
 * of all its nodes are spread over as many hundredths of a second, a minute at most. */
#ifndef BERTH_IDENTITY_ASKER_H
#define BERTH_IDENTITY_ASKER_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/conf/conf.h"
#include "packer/identity/said.h"

#define ASKER_EVERY_S 1.0
#define ASKER_PATIENCE_S 3600
#define ASKER_QUESTIONS_MAX 4096 /* more jobs than that are not asked for */

struct asker;

/* A run of a user's job: `at` is a time at which it was running, in Unix seconds. */
struct asker_run {
    uint32_t job, uid;
    int64_t at;
};

struct asker_answer {
    struct asker_run run;
    struct said_job said; /* the source none: nobody knows it, said.why tells why */
};

/* Starts the thread, where job_program of berth.conf is not off (else *out is NULL). Returns 0, or
 * -1 and err: the program is not there, say. */
int asker_open(struct asker **out, const struct conf *conf, struct berth_error *err);
void asker_close(struct asker *asker); /* NULL is fine, here and below */

/* Returns a descriptor that can be read while there are answers to take; -1 for NULL. */
int asker_fd(const struct asker *asker);

/* Asks for a run of a job with steps on so many nodes (0: not known), soon if somebody waits for
 * it. A run that was asked for already is not asked for twice. Returns whether there will be an
 * answer. */
bool asker_ask(struct asker *asker, const struct asker_run *run, uint32_t nodes, bool urgent);

/* Asks now, once, for all that was put off until later, and waits until all are asked, so long at
 * most. */
void asker_hurry(struct asker *asker, double patience_s);

/* Takes an answer out. Returns false where there is none. */
bool asker_take(struct asker *asker, struct asker_answer *answer);

/* What became of the questions. */
struct asker_state {
    uint64_t asked, answered, failed; /* jobs; calls of the program that failed */
    char why[256];                    /* why the last call failed; "": it did not */
};
void asker_state(struct asker *asker, struct asker_state *state);

#endif
